import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readInstance } from '../../../src/store/instance.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'patchfleet-instance-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

describe('the name of a data directory', () => {
  it('is one for all who ask for it at once, and stays', async () => {
    const names = await Promise.all(Array.from({ length: 30 }, () => readInstance(join(dir, 'data'))));
    expect(new Set(names).size).toBe(1);
    expect(names[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(await readInstance(join(dir, 'data'))).toBe(names[0]);
    expect(await readdir(join(dir, 'data'))).toEqual(['instance']);
  });

  it('is never empty', async () => {
    await writeFile(join(dir, 'instance'), '\n');
    await expect(readInstance(dir)).rejects.toThrow(/instance is empty: remove it/);
  });
});
