import { randomBytes } from 'node:crypto';

/**
 * Who opens sandboxes without being a worker, and so without a sign of life in the rows (the doctor), has a name that
 * says how long it may be about: no reaper takes its sandboxes before.
 */

/** Longer than all trials of all images that an operator names take, ms. */
const visitMs = 30 * 60_000;

export function visitorName(now: number): string {
  return `visitor-${now}-${randomBytes(4).toString('hex')}`;
}

/** Whether that is the name of a visitor whose time is not over. */
export function isVisiting(name: string, now: number): boolean {
  const [, began] = /^visitor-(\d{13})-[0-9a-f]{8}$/.exec(name) ?? [];
  if (began === undefined) return false;
  const since = now - Number(began);
  return since >= 0 && since < visitMs;
}
