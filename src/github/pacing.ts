import Bottleneck from 'bottleneck';

/**
 * How fast this process may write, per installation: token buckets inside GitHub's documented secondary
 * limits (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api): 80 requests that
 * create content and 900 points a minute, a write costing 5. A burst is let through at once, so that the few
 * writes of one review do not wait on each other; the worst minute is burst + refill.
 *
 * Content (comments, reviews): 20 + 60 = 80 a minute. All writes: 30 + 120 = 150, 750 points.
 */
export function createPacing(): { write: Bottleneck.Group; notifications: Bottleneck.Group } {
  return {
    write: bucket({ id: 'patchfleet-write', burst: 30, perSecond: 2 }),
    notifications: bucket({ id: 'patchfleet-content', burst: 20, perSecond: 1 }),
  };
}

function bucket(options: { id: string; burst: number; perSecond: number }): Bottleneck.Group {
  return new Bottleneck.Group({
    id: options.id,
    reservoir: options.burst,
    reservoirIncreaseAmount: options.perSecond,
    reservoirIncreaseInterval: 1000,
    reservoirIncreaseMaximum: options.burst,
    minTime: 50,
    // An idle installation's bucket is dropped after this long, milliseconds; it was full by then.
    timeout: 120_000,
  });
}

/** Rate-limit refusals are waited for inside the client up to this long, seconds; longer ones are the queue's. */
const longestWait = 120;
/** Tries after the first, where GitHub refused for the rate and surely did not apply the request. */
const rateLimitRetries = 3;

/** The answer to a rate-limit refusal: wait `retryAfter` seconds and try again, or give the error up. */
export function shouldWait(retryAfter: number, retryCount: number): boolean {
  return retryCount < rateLimitRetries && retryAfter <= longestWait;
}
