import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLines } from '../../../sandbox/look-at-files.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'patchfleet-look-'));
  await writeFile(join(dir, 'a.txt'), 'one\ntwo\n');
});
afterAll(() => rm(dir, { recursive: true }));

describe('reading a file', () => {
  it('rejects, and nothing else, when it was cancelled before the file was opened', async () => {
    const reason = new Error('cancelled');
    const request = { op: 'read', path: 'a.txt', start: 1, end: null } as const;
    for (let time = 0; time < 20; time += 1)
      await expect(readLines(dir, request, AbortSignal.abort(reason))).rejects.toBe(reason);
    // An error that nobody listens for would fail the test file after this.
    await new Promise(setImmediate);
  });

  it.each([64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1])(
    'gives the same of %i bytes as of any other',
    async (bytes) => {
      const line = 'x'.repeat(1023);
      await writeFile(join(dir, 'b.txt'), `${line}\n`.repeat(65).slice(0, bytes));
      const read = (start: number, end: number | null) =>
        readLines(dir, { op: 'read', path: 'b.txt', start, end }, new AbortController().signal);
      const last = bytes > 64 * 1024 ? 'x' : bytes === 64 * 1024 ? `${line}\n` : line;
      const totalLines = Math.ceil(bytes / 1024);
      const place = { start: totalLines, end: totalLines, totalLines, truncated: false };
      expect(await read(totalLines, null)).toEqual({ text: last, ...place });
      expect(await read(2, 3)).toEqual({
        ...{ text: `${line}\n${line}\n`, start: 2, end: 3, totalLines, truncated: false },
      });
    },
  );
});
