import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxConfig } from '../../../src/config/sandbox-config.ts';
import type { Sandbox, SandboxKind } from '../../../src/sandbox/port.ts';
import { createSetting, docker, never, type Setting } from './docker-setting.ts';

/** The pool over the real engine. What it decides is in the unit tests. */

const signal = never;
const settings: Setting[] = [];
function setting(pool: Partial<SandboxConfig['pool']>): Setting {
  const made = createSetting({ pool: { min: 0, max: 4, idle_seconds: 900, ...pool }, concurrent_starts: 2 });
  settings.push(made);
  return made;
}
const workspaces = (at: Setting) => readdirSync(at.workspacesDir);
/** A container goes before its workspace. */
const left = (at: Setting) => ({ containers: at.containers(), workspaces: workspaces(at) });
const none = { containers: [], workspaces: [] };
const take = (at: Setting, kind: SandboxKind): Promise<Sandbox> =>
  at.sandboxes.acquire({ taskId: 'task', attemptId: randomUUID(), wallMs: 600_000, ...kind }, signal);
const untilReady = (at: Setting, count: number) =>
  expect.poll(() => at.sandboxes.figures).toMatchObject({ started: count });

afterAll(async () => {
  for (const at of settings) await at.sandboxes.close();
  for (const at of settings) await at.end();
});

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
    const { stdout } = await first.run(['cat', 'a.txt'], { signal, wallMs: 60_000 });
    expect(stdout).toBe('one\n');
    await first.write('a.txt', 'two\n', { signal });
    expect(await first.harvest(signal)).toMatchObject([{ kind: 'file', path: 'a.txt' }]);
    await Promise.all([first.close(), other.close()]);
    // Nobody gets what an attempt had.
    expect(at.containers()).toEqual(ahead.filter((id) => id !== first.containerId));
    expect(at.sandboxes.figures).toMatchObject({ ready: 1, cold: 1, pooled: 1 });
  });

  it('are not taken when they died, or stand still', async () => {
    const [dead = ''] = at.containers();
    docker('kill', dead);
    // One is wanted still: another is started in its place.
    await untilReady(at, 3);
    await expect.poll(() => at.containers()).not.toContain(dead);
    const [still = ''] = at.containers();
    docker('pause', still);
    const fresh = await take(at, kind);
    expect(fresh.containerId).not.toBe(still);
    await fresh.close();
    await expect.poll(() => left(at)).toEqual(none);
  });

  it('are not taken when what they stand on was made anew meanwhile', async () => {
    const anew = { snapshot: at.snapshot({ 'a.txt': 'as it should not be\n' }) };
    const { started } = at.sandboxes.figures;
    at.sandboxes.prewarm(anew, 1);
    await untilReady(at, started + 1);
    // As whoever finds it broken, or has made room, does.
    renameSync(anew.snapshot, `${anew.snapshot}-aside`);
    renameSync(at.snapshot({ 'a.txt': 'made anew\n' }), anew.snapshot);
    const fresh = await take(at, anew);
    const { stdout } = await fresh.run(['cat', 'a.txt'], { signal, wallMs: 60_000 });
    expect(stdout).toBe('made anew\n');
    await fresh.close();
    await expect.poll(() => at.containers()).toEqual([]);
  });

  it('are left alone by the reaper of their worker, and gone once it closes', async () => {
    at.sandboxes.prewarm(kind, 3);
    await untilReady(at, 7);
    expect(await at.sandboxes.reap(async () => false)).toEqual({ containers: 0, workspaces: 0 });
    const [mine, others] = [await take(at, kind), at.containers().length];
    at.sandboxes.prewarm(kind, 4);
    await at.sandboxes.close();
    expect({ others, left: at.containers(), workspaces: workspaces(at).length }).toEqual({
      ...{ others: 3, left: [mine.containerId], workspaces: 1 },
    });
    expect((await mine.list('', { signal })).map(({ name }) => name)).toEqual(['a.txt']);
    await mine.close();
    expect(left(at)).toEqual(none);
  });
});

it('an idle pool shrinks to its least', async () => {
  const at = setting({ min: 1, idle_seconds: 1 });
  const kind = { snapshot: at.snapshot({ 'a.txt': 'one\n' }) };
  const started = () => {
    // A word is as short-lived as what it starts.
    at.sandboxes.prewarm(kind, 3);
    return at.sandboxes.figures.pooled === 3 && at.sandboxes.figures.started >= 3;
  };
  await expect.poll(started).toBe(true);
  const there = () => [at.containers().length, workspaces(at).length, at.sandboxes.figures.pooled];
  await expect.poll(there).toEqual([1, 1, 1]);
});

/** Mounts of the machine at or below that directory. */
const mountsBelow = (dir: string) =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => (line.split(' ')[4] ?? '').startsWith(dir));

it('of a killed worker they end by themselves, and another worker removes them', async () => {
  const at = setting({});
  const script = fileURLToPath(new URL('./pool-worker.ts', import.meta.url));
  const image = process.env['PATCHFLEET_TEST_IMAGE'];
  const args = [script, at.instance, at.workspacesDir, at.snapshot({ 'a.txt': 'one\n' })];
  if (image !== undefined) args.push(image);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data');
  expect(JSON.parse(String(said))).toMatchObject({ started: 2, ready: 1, pooled: 1 });
  expect(at.containers()).toHaveLength(2);
  // What lives is another worker's business.
  expect(await at.sandboxes.reap(async () => true)).toEqual({ containers: 0, workspaces: 0 });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const states = () => docker('inspect', '--format', '{{.State.Status}}', ...at.containers()).split('\n');
  await expect.poll(states).toEqual(['exited', 'exited']);
  expect(await at.sandboxes.reap(async () => false)).toEqual({ containers: 2, workspaces: 2 });
  const volumes = docker('volume', 'ls', '-q', '--filter', `label=dev.patchfleet.instance=${at.instance}`);
  expect({
    left: at.containers(),
    workspaces: workspaces(at),
    mounts: mountsBelow(at.home),
    volumes,
  }).toEqual({
    ...{ left: [], workspaces: [], mounts: [], volumes: '' },
  });
});
