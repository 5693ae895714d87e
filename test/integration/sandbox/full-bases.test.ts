import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, utimesSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRoomMaker } from '../../../src/sandbox/bases/make-room.ts';
import { createSnapshots } from '../../../src/sandbox/bases/snapshots.ts';
import { type LoopDisk, mountLoopDisk } from '../../support/loop-disk.ts';
import { whyNoEngine } from '../../support/second-engine.ts';
import { bareRepository, blob, commitOf, commitTree, rawTree } from './git-trees.ts';

/** Snapshots on a small file system of their own, where the mirror is not, which runs full. */

const never = new AbortController().signal;
const mib = 1024 * 1024;

describe.skipIf(whyNoEngine() !== null)('a full disk of the snapshots', () => {
  let home: string;
  let disk: LoopDisk;
  let repository: { id: number; mirrorDir: string };
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'patchfleet-full-'));
    disk = await mountLoopDisk(home, 'snapshots', 16);
    repository = { id: 7, mirrorDir: bareRepository(home, 'mirror: "o\\n".git') };
  });
  afterAll(async () => {
    await disk.end();
    await rm(home, { recursive: true, force: true });
  });

  /** Twice as much on the disk: the file, and its object for git. */
  const commit = (bytes: number) =>
    commitOf(repository.mirrorDir, [
      { mode: '100644', path: Buffer.from('file'), content: randomBytes(bytes) },
    ]);
  const names = () => readdirSync(join(disk.dir, '7')).filter((name) => !name.startsWith('.lock-'));
  const unavailable = (why: RegExp) => ({ code: 'sandbox_unavailable', detail: expect.stringMatching(why) });

  it('is told as such by one that does not fit, and nothing of it is left', async () => {
    const snapshots = createSnapshots({ dir: disk.dir });
    await expect(snapshots.ensure(repository, commit(16 * mib), never)).rejects.toMatchObject(
      unavailable(/^the disk of snapshots and dependencies is too full: no space was left$/),
    );
    // Here it is git that finds no space.
    await expect(snapshots.ensure(repository, commit(7 * mib), never)).rejects.toMatchObject(
      unavailable(/no space was left$/),
    );
    expect(names()).toEqual([]);
  });

  it('is not let run full by a small repository that names one file many times', async () => {
    const oid = blob(repository.mirrorDir, randomBytes(50_000));
    const entries = Array.from({ length: 2000 }, (_, index) => ({
      mode: '100644',
      name: `${1000 + index}`,
      oid,
    }));
    const bomb = commitTree(repository.mirrorDir, rawTree(repository.mirrorDir, entries));
    const snapshots = createSnapshots({ dir: disk.dir });
    await expect(snapshots.ensure(repository, bomb, never)).rejects.toMatchObject(
      unavailable(/: 0 MiB are free, 1 MiB are kept$/),
    );
    expect(names()).toEqual([]);
  });

  it('lets none begin, but where one that nobody uses can go', async () => {
    const makeRoom = createRoomMaker({
      ...{ dirs: [disk.dir], bytes: 1e12, workspacesDir: join(disk.dir, 'none'), log: { warn: () => {} } },
    });
    const snapshots = createSnapshots({ dir: disk.dir, makeRoom });
    const old = await snapshots.ensure(repository, commit(2 * mib), never);
    const { bavail, bsize } = await statfs(disk.dir);
    await writeFile(join(disk.dir, 'other'), Buffer.alloc(bavail * bsize - mib / 2));
    const next = commit(1000);
    await expect(snapshots.ensure(repository, next, never)).rejects.toMatchObject(
      unavailable(/: 0 MiB are free, 1 MiB are kept$/),
    );
    utimesSync(join(dirname(old), 'used'), 1, 1);
    await snapshots.ensure(repository, next, never);
    expect(names()).toEqual([next]);
  });
});
