import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxConfig } from '../../../src/config/sandbox-config.ts';
import type { Sandbox, SandboxKind } from '../../../src/sandbox/port.ts';
import { createSetting, docker, never, type Setting } from './docker-setting.ts';

/** The pool over the real engine. What it decides is in the unit tests. */

const signal = never;
const settings: Setting[] = [];
function setting(pool: Partial<SandboxConfig['pool']>): Setting {
  const made = createSetting({ pool: { min: 0, max: 4, idle_seconds: 60, ...pool }, concurrent_starts: 2 });
  settings.push(made);
  return made;
}
const workspaces = (at: Setting) => readdirSync(at.workspacesDir);
const take = (at: Setting, kind: SandboxKind): Promise<Sandbox> =>
  at.sandboxes.acquire({ taskId: 'task', attemptId: randomUUID(), wallMs: 60_000, ...kind }, signal);
const untilReady = (at: Setting, count: number) =>
  expect.poll(() => at.sandboxes.figures, { timeout: 30_000 }).toMatchObject({ started: count });

afterAll(async () => {
  for (const at of settings) await at.sandboxes.close();
  for (const at of settings) await at.end();
}, 60_000);

describe('sandboxes started ahead', () => {
  let at: Setting;
  let kind: SandboxKind;
  beforeAll(() => {
    at = setting({});
    kind = { snapshot: at.snapshot({ 'a.txt': 'one\n' }) };
  });

  it('are taken by whoever asks for their kind, and work', async () => {
    at.sandboxes.prewarm(kind, 2);
    await untilReady(at, 2);
    const ahead = at.containers();
    const [first, other] = [await take(at, kind), await take(at, { snapshot: at.snapshot({ b: 'b' }) })];
    expect({ pooled: ahead.includes(first.containerId), other: ahead.includes(other.containerId) }).toEqual({
      pooled: true,
      other: false,
    });
    const { stdout } = await first.run(['cat', 'a.txt'], { signal, wallMs: 10_000 });
    expect(stdout).toBe('one\n');
    await first.write('a.txt', 'two\n', { signal });
    expect(await first.harvest(signal)).toMatchObject([{ kind: 'file', path: 'a.txt' }]);
    await Promise.all([first.close(), other.close()]);
    // Nobody gets what an attempt had.
    expect(at.containers()).toEqual(ahead.filter((id) => id !== first.containerId));
    expect(at.sandboxes.figures).toMatchObject({ ready: 1, cold: 1, pooled: 1 });
  }, 60_000);

  it('are not taken when they died, or stand still', async () => {
    const [dead = ''] = at.containers();
    docker('kill', dead);
    await expect.poll(() => at.containers(), { timeout: 20_000 }).toEqual([]);
    at.sandboxes.prewarm(kind, 1);
    await untilReady(at, 3);
    const [still = ''] = at.containers();
    docker('pause', still);
    const fresh = await take(at, kind);
    expect(fresh.containerId).not.toBe(still);
    await fresh.close();
    await expect.poll(() => at.containers(), { timeout: 20_000 }).toEqual([]);
    expect(workspaces(at)).toEqual([]);
  }, 90_000);

  it('are left alone by the reaper of their worker, and gone once it closes', async () => {
    at.sandboxes.prewarm(kind, 3);
    await untilReady(at, 6);
    expect(await at.sandboxes.reap(async () => false)).toEqual({ containers: 0, workspaces: 0 });
    const [mine, others] = [await take(at, kind), at.containers().length];
    at.sandboxes.prewarm(kind, 4);
    await at.sandboxes.close();
    expect({ others, left: at.containers(), workspaces: workspaces(at).length }).toEqual({
      ...{ others: 3, left: [mine.containerId], workspaces: 1 },
    });
    expect((await mine.list('', { signal })).map(({ name }) => name)).toEqual(['a.txt']);
    await mine.close();
    expect({ left: at.containers(), workspaces: workspaces(at) }).toEqual({ left: [], workspaces: [] });
  }, 60_000);
});

it('an idle pool shrinks to its least', async () => {
  const at = setting({ min: 1, idle_seconds: 1 });
  at.sandboxes.prewarm({ snapshot: at.snapshot({ 'a.txt': 'one\n' }) }, 3);
  await untilReady(at, 3);
  await expect.poll(() => at.containers().length, { timeout: 20_000 }).toBe(1);
  await expect.poll(() => workspaces(at).length, { timeout: 20_000 }).toBe(1);
  expect(at.sandboxes.figures).toMatchObject({ started: 3, dropped: 2, pooled: 1 });
}, 60_000);
