import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSnapshots } from '../../../src/sandbox/bases/snapshots.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createSetting, never, type Setting } from './docker-setting.ts';
import { bareRepository, commitOf, git } from './git-trees.ts';

const signal = never;
let setting: Setting;
let sandbox: Sandbox;
let commit: string;
let mirrorDir: string;
beforeAll(async () => {
  setting = createSetting();
  mirrorDir = bareRepository(setting.home, 'mirror.git');
  commit = commitOf(
    mirrorDir,
    [
      ['100644', '.gitattributes', '* text=auto eol=crlf ident filter=lfs\n'],
      ['100644', 'src/crlf.txt', 'a\r\nb\r\n'],
      ['100644', 'src/ident.txt', '$Id$\n'],
      ['100755', 'run me.sh', '#!/bin/sh\necho ran\n'],
      ['120000', 'link', 'src/ident.txt'],
      ['160000', 'module', ''],
      ['120000', 'out', '../../etc/passwd'],
      ['100644', 'ü\nnew', ''],
    ].map(([mode, path = '', content = '']) => ({
      mode: mode as '100644',
      path: Buffer.from(path),
      content: Buffer.from(content),
    })),
  );
  const snapshots = createSnapshots({ dir: join(setting.home, 'snapshots') });
  const snapshot = await snapshots.ensure({ id: 1, mirrorDir }, commit, signal);
  const request = { taskId: 'task', attemptId: 'attempt', snapshot, wallMs: 600_000 };
  sandbox = await setting.sandboxes.acquire(request, signal);
});
afterAll(async () => {
  await sandbox?.close();
  await setting.end();
});

const run = (...argv: string[]) => sandbox.run(argv, { signal, wallMs: 60_000 });

it('git works in a sandbox: one commit, clean, and only what the agent did shows', async () => {
  // What the index remembers of the files holds through an overlay: nothing need be read to know that it is unchanged.
  // Copies have other inodes.
  if ((await run('stat', '--file-system', '--format=%T', '.')).stdout === 'overlayfs\n') {
    expect(await run('git', 'diff-files', '--name-only')).toMatchObject({ exitCode: 0, stdout: '' });
  }
  expect(await run('git', 'status', '--porcelain')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  expect((await run('git', 'log', '--format=%an %s')).stdout).toBe('Patchfleet Snapshot\n');
  expect((await run('git', 'fsck', '--strict')).exitCode).toBe(0);

  expect((await run('./run me.sh')).stdout).toBe('ran\n');
  await run('sh', '-c', 'printf "c\\r\\n" >> src/crlf.txt; chmod -x "run me.sh"; rm link; echo new > added');
  expect((await run('git', 'status', '--porcelain')).stdout.split('\n').sort()).toEqual([
    '',
    ' D link',
    ' M "run me.sh"',
    ' M src/crlf.txt',
    '?? added',
  ]);
  expect((await run('git', 'diff', '--stat', '--', 'src')).stdout).toContain('1 insertion(+)');
});

it('the history in a sandbox has nothing of the real one', async () => {
  const objects = (await run('git', 'cat-file', '--batch-all-objects', '--batch-check=%(objecttype)')).stdout;
  expect(objects.split('\n').filter((type) => type === 'commit').length).toBe(1);
  expect((await run('git', 'cat-file', '-e', commit)).exitCode).not.toBe(0);
  // The commit is there to be had, in the mirror.
  expect(git(mirrorDir, ['cat-file', '-t', commit]).toString()).toBe('commit\n');
});
