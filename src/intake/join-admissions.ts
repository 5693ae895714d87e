import type { Admission } from './admit.ts';

/**
 * The admission of a delivery that is under way in this process is joined rather than begun again: the light lane and
 * the queue both come to a delivery where GitHub is slow, since the reconciler asks for it meanwhile.
 */
export function joinAdmissions(admit: Admission['admit']): Admission['admit'] {
  const underWay = new Map<string, Promise<void>>();
  return (deliveryId, signal) => {
    const known = underWay.get(deliveryId);
    if (known !== undefined) return known;
    const work = admit(deliveryId, signal).finally(() => underWay.delete(deliveryId));
    underWay.set(deliveryId, work);
    return work;
  };
}
