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
});
