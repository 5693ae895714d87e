import type { DiskUse } from './disk-use.ts';

/** When to look at what an attempt has written, and what is too much. Pure. */

const mib = 1024 * 1024;
/** No faster is assumed: bytes, and files and directories, that a sandbox makes in a millisecond. */
const speed = { bytes: 1_000_000, entries: 50 };
const soonestMs = 200;
const latestMs = 10_000;

/** Bytes a file system must have free for work to begin. */
const reserveBytes = 1024 * mib;
/** Of a small one, this part of its size. */
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

/** What is known of a file system, bytes. */
export interface FileSystemRoom {
  readonly size: number;
  readonly free: number;
}

/** What must stay free of a file system, bytes. */
export const reserveOf = ({ size }: FileSystemRoom): number => Math.min(reserveBytes, size * reservePart);

/** Why no work can begin on a file system; null: it can. */
export function tooFull(room: FileSystemRoom): string | null {
  const reserve = reserveOf(room);
  if (room.free >= reserve) return null;
  return `${Math.floor(room.free / mib)} MiB are free, ${Math.ceil(reserve / mib)} MiB are kept`;
}

/** Whether work that runs has to end because the file system runs full under it. */
export const runsFull = (room: FileSystemRoom): boolean => room.free < reserveOf(room) / 2;
