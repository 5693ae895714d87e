import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withFileLock } from '../../../src/store/file-lock.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'patchfleet-lock-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Most holders at once of many who ask at once. */
async function mostAtOnce(path: string): Promise<number> {
  let holders = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 12 }, () =>
      withFileLock(path, async () => {
        holders += 1;
        most = Math.max(most, holders);
        await new Promise((resolve) => setImmediate(resolve));
        holders -= 1;
      }),
    ),
  );
  return most;
}

describe('a lock file', () => {
  it('has one holder at a time, also where many find that of a process that died', async () => {
    const seen = new Set<number>();
    for (let round = 0; round < 8; round += 1) {
      const path = join(dir, `lock-${round}`);
      await writeFile(path, '999999999 1');
      seen.add(await mostAtOnce(path));
    }
    expect(seen).toEqual(new Set([1]));
    expect(await readdir(dir)).toEqual([]);
  });
});
