import type { DiskUse } from './disk-use.ts';

/** When to look at what an attempt has written, and what is too much. Pure. */

const mib = 1024 * 1024;
/** No faster is assumed: bytes, and files and directories, that a sandbox makes in a millisecond. */
const speed = { bytes: 1_000_000, entries: 50 };
const soonestMs = 200;
const latestMs = 10_000;

/** What a file system must have free for work to begin: bytes, and files and directories that can still be made. */
const reserve = { bytes: 1024 * mib, entries: 50_000 };
/** Of a small one, this part of what it has. */
const reservePart = 0.05;

/** How long until what an attempt may write can be used up, ms; at least the time between two looks. */
export function nextLook(use: DiskUse, limits: DiskUse): number {
  const room = Math.min(
    (limits.bytes - use.bytes) / speed.bytes,
    (limits.entries - use.entries) / speed.entries,
  );
  return Math.round(Math.min(latestMs, Math.max(soonestMs, room)));
}

/** What an attempt has reached that it may not; null: nothing. */
export function boundReached(use: DiskUse, limits: DiskUse): string | null {
  if (use.bytes > limits.bytes) {
    return `it wrote ${Math.ceil(use.bytes / mib)} MiB to its workspace, ${Math.floor(limits.bytes / mib)} MiB are allowed`;
  }
  if (use.entries > limits.entries) {
    return `it made more than ${limits.entries} files and directories in its workspace`;
  }
  return null;
}

/** What is known of a file system: all there is of it, and what is left. One that makes files without end has 0. */
export interface FileSystemRoom {
  readonly size: DiskUse;
  readonly free: DiskUse;
}

/** What must stay free of a file system. */
export const reserveOf = ({ size }: FileSystemRoom): DiskUse => ({
  bytes: Math.min(reserve.bytes, size.bytes * reservePart),
  entries: Math.min(reserve.entries, size.entries * reservePart),
});

/** What of a file system is below that many reserves; null: nothing. */
function lackOf(room: FileSystemRoom, reserves: number): keyof DiskUse | null {
  const kept = reserveOf(room);
  if (room.free.bytes < kept.bytes * reserves) return 'bytes';
  return room.free.entries < kept.entries * reserves ? 'entries' : null;
}

/** Why no work can begin on a file system; null: it can. */
export function tooFull(room: FileSystemRoom): string | null {
  const lack = lackOf(room, 1);
  const kept = reserveOf(room);
  if (lack === null) return null;
  return lack === 'bytes'
    ? `${Math.floor(room.free.bytes / mib)} MiB are free, ${Math.ceil(kept.bytes / mib)} MiB are kept`
    : `${room.free.entries} files can still be made, ${Math.ceil(kept.entries)} are kept`;
}

/** What of a file system runs out under work that runs, so that some of it has to end; null: nothing. */
export const runsOut = (room: FileSystemRoom): keyof DiskUse | null => lackOf(room, 0.5);

/** Whether what can be made again should go: soon no work could begin. */
export const runsLow = (room: FileSystemRoom): boolean => lackOf(room, 2) !== null;
