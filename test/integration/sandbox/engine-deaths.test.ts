import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SecondEngine, startSecondEngine, whyNoEngine } from '../../support/second-engine.ts';
import { createSetting, never, nothing, type Setting } from './docker-setting.ts';

/** An engine of the test's own that ends under its sandboxes, comes back, and has no room left. */

const signal = never;
const image = process.env['PATCHFLEET_TEST_IMAGE'] ?? 'patchfleet-sandbox:latest';
const limits = { signal, wallMs: 60_000 };

const filler = 'filler';

/** To the last block, most of it without writing. */
function fillUp(dir: string): void {
  const { bavail, bsize } = statfsSync(dir);
  const bytes = String(Math.floor(bavail * 0.95) * bsize);
  execFileSync('sh', ['-c', `fallocate -l ${bytes} ${filler} && cat /dev/zero >> ${filler} || true`], {
    cwd: dir,
    stdio: 'ignore',
  });
}

describe.skipIf(whyNoEngine() !== null)('an engine', () => {
  let engine: SecondEngine | null = null;
  let setting: Setting;
  const own = (): SecondEngine => {
    if (engine === null) throw new Error('the second engine did not start');
    return engine;
  };
  beforeAll(async () => {
    engine = await startSecondEngine({ diskMib: 3072 });
    await engine.loadImage(image);
    setting = createSetting({ image, pool: { min: 0, max: 3, idle_seconds: 900 } }, { engine: engine.host });
  });
  afterAll(async () => {
    await setting.sandboxes.close();
    await setting.end();
    await engine?.end();
  });

  const kindOf = (text: string) => ({ snapshot: setting.snapshot({ 'a.txt': text }) });
  const started = (count: number) =>
    expect.poll(() => setting.sandboxes.figures.started).toBeGreaterThanOrEqual(count);

  it.for(['SIGTERM', 'SIGKILL'] as const)(
    'that is ended by %s under used and pooled sandboxes is told of, and all is well once it is back',
    async (kill) => {
      const before = setting.sandboxes.figures;
      const kind = kindOf('ahead\n');
      setting.sandboxes.prewarm(kind, 2);
      await started(before.started + 2);
      const [used, other] = [await setting.acquire(), await setting.acquire()];
      const lasting = { signal, wallMs: 600_000 };
      const running = used.run(['sleep', '600'], lasting);
      const judged = other.runByEngine(['sleep', '600'], lasting);
      const ends = Promise.all([
        expect(running).rejects.toMatchObject({ code: 'sandbox_died' }),
        expect(judged).rejects.toMatchObject({ code: 'sandbox_died' }),
      ]);
      await own().stop(kill);
      await ends;
      await expect(setting.acquire()).rejects.toMatchObject({ code: 'sandbox_unavailable' });
      await expect(setting.sandboxes.reap(async () => true)).rejects.toMatchObject({
        code: 'sandbox_unavailable',
      });

      await own().start();
      await Promise.all([used.close(), other.close()]);
      // What died in the pool is not handed out; what is wanted is started anew.
      const request = { taskId: 'task', attemptId: 'next', wallMs: 600_000, ...kind };
      const next = await setting.sandboxes.acquire(request, signal);
      expect(await next.run(['cat', 'a.txt'], limits)).toMatchObject({ stdout: 'ahead\n' });
      // More where another was started in the place of one while the engine ended.
      expect(setting.sandboxes.figures.dead - before.dead).toBeGreaterThanOrEqual(2);
      await next.close();
      setting.sandboxes.prewarm(kind, 0);
      await expect
        .poll(async () => {
          await setting.sandboxes.reap(async () => true);
          return await setting.left();
        })
        .toEqual(nothing);
    },
  );

  it('whose disk is full starts nothing and says so; what runs goes on, and so does all once there is room', async () => {
    const neighbour = await setting.acquire();
    fillUp(own().dataDir);
    await expect(setting.acquire()).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      detail: expect.stringContaining('no space left on device'),
    });
    await neighbour.write('a.txt', 'three\n', { signal });
    expect(await neighbour.run(['cat', 'a.txt'], limits)).toMatchObject({ stdout: 'three\n' });
    expect(await neighbour.harvest(signal)).toMatchObject([{ kind: 'file', path: 'a.txt' }]);
    await neighbour.close();

    rmSync(join(own().dataDir, filler));
    const next = await setting.acquire();
    expect(await next.run(['cat', 'a.txt'], limits)).toMatchObject({ stdout: 'one\ntwo\n' });
    await next.close();
    await setting.sandboxes.reap(async () => true);
    expect(await setting.left()).toEqual(nothing);
  });
});
