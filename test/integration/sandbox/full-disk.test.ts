import { statfsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LoopDisk, mountLoopDisk } from '../../support/loop-disk.ts';
import { whyNoEngine } from '../../support/second-engine.ts';
import { createSetting, never, nothing, type Setting } from './docker-setting.ts';

/** Workspaces on a small file system of their own, which an attempt fills. */

const signal = never;
const sh = (script: string) => ['sh', '-c', script];
const limits = { signal, wallMs: 60_000 };

describe.skipIf(whyNoEngine() !== null)('a full disk of the workspaces', () => {
  let home: string;
  let disk: LoopDisk | null = null;
  let setting: Setting;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'full-'));
    disk = await mountLoopDisk(home, 'workspaces', 96);
    setting = createSetting(
      { workspace_mib: 4096, pool: { min: 0, max: 2, idle_seconds: 900 } },
      {
        workspacesDir: disk.dir,
      },
    );
  });
  afterAll(async () => {
    await setting.sandboxes.close();
    await setting.end();
    await disk?.end();
    await rm(home, { recursive: true, force: true });
  });

  it('ends the attempt that filled it as disk_exhausted; its neighbour, the pool and the worker go on', async () => {
    const kind = { snapshot: setting.snapshot({ 'a.txt': 'one\n' }) };
    // The one that began first is not the one to go: it is the one that wrote.
    const neighbour = await setting.acquire();
    const greedy = await setting.acquire();
    setting.sandboxes.prewarm(kind, 1);
    await expect.poll(() => setting.sandboxes.figures.started).toBe(1);
    const fill = sh(
      'trap "" TERM; while :; do head -c 200000000 /dev/zero >> full; sleep 0.1; done 2>/dev/null',
    );
    await expect(greedy.run(fill, limits)).rejects.toMatchObject({
      code: 'disk_exhausted',
      detail: 'the disk of the workspaces runs full, and no other attempt wrote more to it',
    });
    await expect(greedy.list('', { signal })).rejects.toMatchObject({ code: 'disk_exhausted' });
    await expect(greedy.harvest(signal)).rejects.toMatchObject({ code: 'disk_exhausted' });
    expect(await neighbour.run(['cat', 'a.txt'], limits)).toMatchObject({ stdout: 'one\ntwo\n' });
    await greedy.close();

    await neighbour.write('a.txt', 'three\n', { signal });
    expect(await neighbour.harvest(signal)).toMatchObject([{ kind: 'file', path: 'a.txt' }]);
    await neighbour.close();
    const request = { taskId: 'task', attemptId: 'next', wallMs: 600_000, ...kind };
    const next = await setting.sandboxes.acquire(request, signal);
    expect(setting.sandboxes.figures).toMatchObject({ ready: 1, dead: 0 });
    await next.write('b.txt', 'x'.repeat(100_000), { signal });
    expect(await next.harvest(signal)).toMatchObject([{ kind: 'file', path: 'b.txt' }]);
    await next.close();
    expect(await setting.left()).toEqual(nothing);
  });

  it('ends the attempt that took all its files, too', async () => {
    const neighbour = await setting.acquire();
    const greedy = await setting.acquire();
    const fill = sh('mkdir many; cd many; seq 30000 | xargs touch; sleep 60');
    await expect(greedy.run(fill, limits)).rejects.toMatchObject({
      code: 'disk_exhausted',
      detail: 'the disk of the workspaces runs out of files, and no other attempt made more of them',
    });
    await greedy.close();
    await neighbour.write('b.txt', 'one\n', { signal });
    expect(await neighbour.harvest(signal)).toMatchObject([{ kind: 'file', path: 'b.txt' }]);
    await neighbour.close();
    expect(await setting.left()).toEqual(nothing);
  });

  it('keeps work from beginning while it lasts, and says so', async () => {
    const holder = await setting.acquire();
    const { blocks, bavail, bsize } = statfsSync(setting.workspacesDir);
    // Below the twentieth part that is kept free, and not so far below that somebody has to go.
    const bytes = Math.floor((bavail - blocks * 0.04) * bsize);
    expect(await holder.run(['fallocate', '-l', String(bytes), 'big'], limits)).toMatchObject({
      exitCode: 0,
    });
    await expect(setting.acquire()).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      detail: expect.stringMatching(
        /^the disk of the workspaces is too full: \d+ MiB are free, \d+ MiB are kept$/,
      ),
    });
    await holder.close();
    const next = await setting.acquire();
    await next.close();
    expect(await setting.left()).toEqual(nothing);
  });
});
