import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  boundReached,
  nextLook,
  reserveOf,
  runsFull,
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

it('keeps a gigabyte free, or a part of a small disk', () => {
  const large = { size: 1e12, free: 1023 * mib };
  const small = { size: 1000 * mib, free: 50 * mib };
  expect([reserveOf(large), reserveOf(small)]).toEqual([1024 * mib, 50 * mib]);
  expect([tooFull(large), tooFull(small)]).toEqual(['1023 MiB are free, 1024 MiB are kept', null]);
  expect([runsFull(large), runsFull({ ...large, free: 511 * mib })]).toEqual([false, true]);
});
