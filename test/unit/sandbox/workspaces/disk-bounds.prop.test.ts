import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  boundReached,
  nextLook,
  reserveOf,
  runsLow,
  runsOut,
  tooFull,
} from '../../../../src/sandbox/workspaces/disk-bounds.ts';

const mib = 1024 * 1024;
const limits = { bytes: 4096 * mib, entries: 200_000 };
const use = fc.record({ bytes: fc.nat(8192 * mib), entries: fc.nat(400_000) });

it('looks again before the room that is left can be filled at a gigabyte a second, unless it is almost full', () => {
  fc.assert(
    fc.property(use, (now) => {
      const ms = nextLook(now, limits);
      const room = Math.min((limits.bytes - now.bytes) / 1e6, (limits.entries - now.entries) / 50);
      expect(ms).toBeGreaterThanOrEqual(200);
      expect(ms).toBeLessThanOrEqual(Math.max(200, Math.ceil(room)));
      expect(ms).toBeLessThanOrEqual(10_000);
    }),
  );
});

it('looks no later the more there is', () => {
  fc.assert(
    fc.property(use, use, (one, other) => {
      const more = { bytes: one.bytes + other.bytes, entries: one.entries + other.entries };
      expect(nextLook(more, limits)).toBeLessThanOrEqual(nextLook(one, limits));
    }),
  );
});

it.each([
  [{ bytes: 4096 * mib, entries: 200_000 }, null],
  [{ bytes: 4096 * mib + 1, entries: 1 }, 'it wrote 4097 MiB to its workspace, 4096 MiB are allowed'],
  [{ bytes: 1, entries: 200_001 }, 'it made more than 200000 files and directories in its workspace'],
])('names what was reached: %j', (now, reached) => {
  expect(boundReached(now, limits)).toBe(reached);
});

it('keeps a gigabyte free, and 50,000 files, or a part of a small disk', () => {
  const room = (bytes: number, entries: number, free: [number, number]) => ({
    size: { bytes, entries },
    free: { bytes: free[0] * mib, entries: free[1] },
  });
  const large = (mibs: number, files: number) => room(1e12, 1e8, [mibs, files]);
  const small = (mibs: number, files: number) => room(1000 * mib, 20_000, [mibs, files]);
  expect([reserveOf(large(0, 0)), reserveOf(small(0, 0))]).toEqual([
    { bytes: 1024 * mib, entries: 50_000 },
    { bytes: 50 * mib, entries: 1000 },
  ]);
  expect([large(1023, 1e6), small(50, 1000), large(1024, 49_999), small(50, 999)].map(tooFull)).toEqual([
    '1023 MiB are free, 1024 MiB are kept',
    null,
    '49999 files can still be made, 50000 are kept',
    '999 files can still be made, 1000 are kept',
  ]);
  const runs = [large(512, 25_000), large(511, 25_000), large(512, 24_999), small(25, 499)];
  expect(runs.map(runsOut)).toEqual([null, 'bytes', 'entries', 'entries']);
  expect([large(2048, 1e5), large(2047, 1e5), large(2048, 99_999)].map(runsLow)).toEqual([false, true, true]);
  // A file system that makes files as they are wanted says that it has none.
  const endless = room(1e12, 0, [5000, 0]);
  expect([tooFull(endless), runsOut(endless), runsLow(endless)]).toEqual([null, null, false]);
});
