import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createArtifactDirectory } from '../../../src/store/artifact-directory.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'patchfleet-artifacts-'));
});
afterAll(() => rm(dir, { recursive: true }));

describe('the artifact directory', () => {
  it('keeps content under its digest, once, also when many write it at the same moment', async () => {
    const store = createArtifactDirectory(dir);
    const puts = await Promise.all(Array.from({ length: 20 }, () => store.put('log', 'hello', 'text/plain')));
    const digest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
    expect(puts).toEqual(puts.map(() => ({ name: 'log', digest, bytes: 5, mediaType: 'text/plain' })));
    expect(Buffer.from((await store.get(digest)) ?? []).toString()).toBe('hello');
    expect(await readdir(join(dir, '2c'))).toEqual([digest]);
  });

  it('answers null for what it does not have, and refuses what is corrupt or no digest', async () => {
    const store = createArtifactDirectory(dir);
    expect(await store.get('0'.repeat(64))).toBeNull();
    await expect(store.get('../../etc/passwd')).rejects.toThrow('not a SHA-256');
    const { digest } = await store.put('log', 'world', 'text/plain');
    await writeFile(join(dir, digest.slice(0, 2), digest), 'w0rld');
    await expect(store.get(digest)).rejects.toThrow('corrupt');
  });

  it('leaves nothing of what could not be written', async () => {
    const store = createArtifactDirectory(dir);
    const digest = createHash('sha256').update('in the way').digest('hex');
    await mkdir(join(dir, digest.slice(0, 2), digest, 'sub'), { recursive: true });
    await expect(store.put('log', 'in the way', 'text/plain')).rejects.toThrow();
    expect(await readdir(join(dir, digest.slice(0, 2)))).toEqual([digest]);
  });
});
