import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createSandboxes } from '../../../src/sandbox/docker-sandboxes.ts';
import { visitorsName } from '../../../src/sandbox/visitor.ts';
import { createSetting, docker, never, nothing, type Setting } from './docker-setting.ts';
import { mountLines } from './workspaces-setting.ts';

const signal = never;
const image = sandboxConfigSchema.parse({}).image;
const mayMount = process.getuid?.() === 0;
let setting: Setting;
beforeAll(() => {
  setting = createSetting();
});
afterAll(async () => await setting.end());

describe('a sandbox that dies', () => {
  it('says so when the agent kills the tool server', async () => {
    const sandbox = await setting.acquire();
    const other = sandbox.run(['sleep', '60'], { signal, wallMs: 60_000 });
    const killer = sandbox.run(['sh', '-c', 'kill -9 $PPID; sleep 60'], { signal, wallMs: 60_000 });
    const died = {
      code: 'sandbox_died',
      detail: expect.stringContaining('the container ended with exit code 137'),
    };
    await Promise.all([
      expect(other).rejects.toMatchObject(died),
      expect(killer).rejects.toMatchObject(died),
    ]);
    await expect(sandbox.list('', { signal })).rejects.toMatchObject(died);
    await sandbox.close();
    expect(setting.containers()).toEqual([]);
  });

  it('says so when the agent has the tool server complain without end', async () => {
    const sandbox = await setting.acquire();
    const flood = 'cat /dev/zero > /proc/$PPID/fd/2';
    await expect(sandbox.run(['sh', '-c', flood], { signal, wallMs: 60_000 })).rejects.toMatchObject({
      code: 'sandbox_died',
      detail: expect.stringContaining('it complains without end'),
    });
    await sandbox.close();
  });

  it('says that it was memory when it was', async () => {
    const small = createSetting({ memory_mib: 96, scratch_mib: 512 });
    try {
      const sandbox = await small.acquire();
      // Memory that belongs to no process: the kernel kills one after the other, the tool server last.
      const fill = 'trap "" TERM; while :; do head -c 20000000 /dev/zero >> /scratch/full; done';
      const died = (async () => {
        for (;;) await sandbox.run(['sh', '-c', fill], { signal, wallMs: 60_000 });
      })();
      await expect(died).rejects.toMatchObject({
        code: 'memory_exhausted',
        detail: 'the sandbox ran out of memory (the limit is 96 MiB, at most 96 MiB were in use)',
      });
    } finally {
      await small.end();
    }
  });

  it('ends at its own wall limit, though nobody asks it to', async () => {
    const request = { taskId: 'task', attemptId: randomUUID(), snapshot: setting.snapshot({}), wallMs: 1500 };
    const sandbox = await setting.sandboxes.acquire(request, signal);
    const run = sandbox.run(['sleep', '60'], { signal, wallMs: 60_000 });
    await expect(run).rejects.toMatchObject({ code: 'wall_limit' });
    await sandbox.close();
  });
});

describe('a sandbox that cannot start', () => {
  it('is sandbox_unavailable without its image, and leaves nothing', async () => {
    const other = createSetting({ image: 'patchfleet-no-such-image:latest' });
    await expect(other.acquire()).rejects.toMatchObject({ code: 'sandbox_unavailable' });
    expect({ containers: other.containers(), workspaces: readdirSync(other.workspacesDir) }).toEqual({
      containers: [],
      workspaces: [],
    });
    expect((await other.sandboxes.check()).problems).toEqual([
      expect.stringContaining(
        'The sandbox image patchfleet-no-such-image:latest is not on the engine. Build it with',
      ),
    ]);
    await other.end();
  });

  it('is sandbox_unavailable without an engine, and the check says what to do', async () => {
    const sandboxes = createSandboxes({
      dockerHost: `unix://${join(setting.home, 'no-such.sock')}`,
      config: sandboxConfigSchema.parse({}),
      instance: 'none',
      worker: 'tester',
      workspacesDir: join(setting.home, 'unreached'),
    });
    expect((await sandboxes.check()).problems).toEqual([
      expect.stringContaining('The Docker engine cannot be reached'),
    ]);
    await expect(sandboxes.reap(async () => false)).rejects.toMatchObject({ code: 'sandbox_unavailable' });
  });

  it('stops starting when it is told to, and leaves nothing', async () => {
    // Its tool server never says hello: it is being started for as long as it takes to tell it.
    const silent = `patchfleet-test-silent:${randomBytes(6).toString('hex')}`;
    const input = `FROM ${image}\nLABEL run=${silent}\nENTRYPOINT ["sh", "-c", "sleep 600"]\n`;
    execFileSync('docker', ['build', '--quiet', '--network=none', '--tag', silent, '-'], {
      ...{ input, stdio: ['pipe', 'ignore', 'ignore'] },
    });
    const other = createSetting({ image: silent, workspaces: 'copy' });
    const running = () => docker('ps', '-q', '--filter', `label=dev.patchfleet.instance=${other.instance}`);
    try {
      const abort = new AbortController();
      const snapshot = other.snapshot({ a: 'a' });
      const request = { taskId: 't', attemptId: randomUUID(), snapshot, wallMs: 60_000 };
      const acquiring = expect(other.sandboxes.acquire(request, abort.signal)).rejects.toThrow('superseded');
      await expect.poll(running).not.toBe('');
      abort.abort(new Error('superseded'));
      await acquiring;
      expect(await other.left()).toEqual(nothing);
    } finally {
      await other.end();
      docker('rmi', '--force', silent);
    }
  });
});

it('the check finds nothing wrong where all is well, and leaves nothing', async () => {
  expect(await setting.sandboxes.check()).toMatchObject({ problems: [] });
  expect(setting.containers()).toEqual([]);
});

/** A worker in a process of its own, once it has a sandbox. */
async function startWorker(...visitorsDir: string[]) {
  const script = fileURLToPath(new URL('./sandbox-worker.ts', import.meta.url));
  const args = [script, setting.instance, setting.workspacesDir, setting.snapshot({ 'a.txt': 'a\n' })];
  args.push(...visitorsDir);
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, ...(JSON.parse(line) as { containerId: string; attemptId: string }) };
  }
  throw new Error('the worker ended before it had a sandbox');
}

it('a killed worker leaves a container that ends by itself, and nothing after the reaper', async () => {
  const stranger = docker(
    'create',
    '--label',
    'dev.patchfleet.instance=another',
    '--label',
    'dev.patchfleet.worker=killed',
    image,
  );
  try {
    const { child, containerId } = await startWorker();
    const mine = await setting.acquire({ 'a.txt': 'a\n' });
    child.kill('SIGKILL');
    const state = () => docker('inspect', '--format', '{{.State.Status}}', containerId);
    await expect.poll(state).toBe('exited');
    if (mayMount) expect(mountLines(setting.workspacesDir).length).toBe(2);
    mkdirSync(join(setting.workspacesDir, 'killed@00000000'));
    mkdirSync(join(setting.workspacesDir, 'tester@00000000'));
    mkdirSync(join(setting.workspacesDir, 'neighbour@00000000'));

    const isAlive = async (worker: string) => worker === 'neighbour';
    expect(await setting.sandboxes.reap(isAlive)).toEqual({ containers: 1, workspaces: 3 });
    expect(await setting.sandboxes.reap(isAlive)).toEqual({ containers: 0, workspaces: 0 });
    expect(setting.containers()).toEqual([mine.containerId]);
    if (mayMount) expect(mountLines(setting.workspacesDir).length).toBe(1);
    expect((await mine.list('', { signal })).map(({ name }) => name)).toEqual(['a.txt']);
    expect(docker('inspect', '--format', '{{.State.Status}}', stranger)).toBe('created');
    await mine.close();
    expect(readdirSync(setting.workspacesDir)).toEqual(['neighbour@00000000']);
    rmdirSync(join(setting.workspacesDir, 'neighbour@00000000'));
  } finally {
    docker('rm', '-f', stranger);
  }
});

it('a doctor at work is left alone, and of a killed one nothing is left after the reaper', async () => {
  const visitorsDir = join(setting.home, visitorsName);
  const { child, containerId } = await startWorker(visitorsDir);
  const reap = () => setting.sandboxes.reap(async () => false);
  expect(await reap()).toEqual({ containers: 0, workspaces: 0 });
  expect(setting.containers()).toEqual([containerId]);
  child.kill('SIGKILL');
  // In however many rounds.
  const removed = { containers: 0, workspaces: 0 };
  const rest = async () => {
    const { containers, workspaces } = await reap();
    removed.containers += containers;
    removed.workspaces += workspaces;
    return { ...removed, left: await setting.left(), visitors: readdirSync(visitorsDir) };
  };
  await expect.poll(rest).toEqual({ containers: 1, workspaces: 1, left: nothing, visitors: [] });
});

it('many sandboxes start a few at a time, work at once, and go', async () => {
  const sandboxes = await Promise.all(Array.from({ length: 6 }, () => setting.acquire()));
  expect(new Set(sandboxes.map(({ containerId }) => containerId)).size).toBe(6);
  const results = await Promise.all(
    sandboxes.map((sandbox) => sandbox.run(['cat', 'a.txt'], { signal, wallMs: 60_000 })),
  );
  expect(results.map(({ stdout }) => stdout)).toEqual(Array(6).fill('one\ntwo\n'));
  await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
  expect(setting.containers()).toEqual([]);
});
