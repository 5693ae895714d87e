import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { withHeldLock } from '../../../src/sandbox/bases/held-lock.ts';
import type { KindRequest, RunResult, Sandbox } from '../../../src/sandbox/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { createFailuresInMemory, kindsBelow } from '../../support/sandbox-kinds.ts';
import { bareRepository, commitOf } from './git-trees.ts';

/** Who waits for whom where many want the same dependencies. The setup itself runs nowhere: it ends when the test says so. */

const never = new AbortController().signal;
let home: string;
let mirrorDir: string;
let commit: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'patchfleet-waiting-'));
  mirrorDir = bareRepository(home, 'mirror.git');
  commit = commitOf(mirrorDir, [{ mode: '100644', path: Buffer.from('a'), content: Buffer.from('one\n') }]);
});
afterAll(() => removeTree(home));

const ended = (exitCode: number): RunResult => ({
  ...{ exitCode, signal: null, stdout: '', stderr: '', timedOut: false, isCanceled: false },
  ...{ isMaxBuffer: false, spawnError: null, durationMs: 1, peakMemoryBytes: null, outOfMemory: false },
});

/** Processes that share a data directory, as far as that can be told here, and the setups that they began. */
function createProcesses(name: string, count: number) {
  const dir = join(home, name);
  const failures = createFailuresInMemory();
  const setups: { by: number; end: (exitCode: number) => void; closed: boolean }[] = [];
  const acquireBy = (by: number) => async () => {
    const running = Promise.withResolvers<RunResult>();
    const setup = { by, end: (exitCode: number) => running.resolve(ended(exitCode)), closed: false };
    const sandbox: Pick<Sandbox, 'run' | 'keep' | 'close'> = {
      run: async (_, { signal }) => {
        signal.addEventListener('abort', () => running.reject(signal.reason));
        setups.push(setup);
        return await running.promise;
      },
      async keep(written) {
        await mkdir(join(written, 'node_modules'), { recursive: true });
        await writeFile(join(written, 'node_modules', 'dep'), `of ${setups.indexOf(setup)}`);
      },
      close: async () => {
        setup.closed = true;
      },
    };
    return sandbox as Sandbox;
  };
  const kinds = Array.from({ length: count }, (_, by) => {
    const sandboxes = { acquire: acquireBy(by), imageId: async () => 'sha256:1' };
    return kindsBelow(dir, sandboxes, { failures }).kinds;
  });
  const request: KindRequest = {
    repository: { id: 1, mirrorDir },
    ...{ commit, trusted: commit, taskId: 'task', use: 'agent' },
    config: repositoryConfigSchema.parse({ setup: { commands: [['npm', 'ci']] } }),
  };
  return {
    setups,
    ask: async (by: number, signal = never) => (await kinds[by]?.of(request, signal))?.prepared,
    began: (nth: number) => expect.poll(() => setups.length).toBe(nth),
    left: () => readdirSync(join(dir, 'prepared', '1')).filter((entry) => !entry.startsWith('.lock-')),
  };
}

it('go on where one who waits gives up, though it was the first to ask', async () => {
  const { ask, began, setups } = createProcesses('first', 1);
  const first = new AbortController();
  const asked = [ask(0, first.signal), ask(0), ask(0)];
  await began(1);
  first.abort(new Error('cancelled'));
  await expect(asked[0]).rejects.toThrow('cancelled');
  setups[0]?.end(0);
  const [one, other] = await Promise.all(asked.slice(1));
  expect({ same: one === other, setups: setups.length }).toEqual({ same: true, setups: 1 });
});

it('end where the last one gives up: nothing is left, nothing is remembered, and the next begins anew', async () => {
  const { ask, began, setups, left } = createProcesses('last', 1);
  const leave = new AbortController();
  const asked = [ask(0, leave.signal), ask(0, leave.signal)];
  await began(1);
  leave.abort(new Error('cancelled'));
  await Promise.all(asked.map((one) => expect(one).rejects.toThrow('cancelled')));
  await expect.poll(() => ({ closed: setups[0]?.closed, left: left() })).toEqual({ closed: true, left: [] });
  const next = ask(0);
  await began(2);
  setups[1]?.end(0);
  expect(await next).toEqual(expect.stringContaining('/prepared/1/'));
});

it('are made by the next process where the one that makes them gives up', async () => {
  const { ask, began, setups } = createProcesses('next', 2);
  const leave = new AbortController();
  const first = ask(0, leave.signal);
  await began(1);
  const second = ask(1);
  leave.abort(new Error('shut down'));
  await expect(first).rejects.toThrow('shut down');
  await began(2);
  setups[1]?.end(0);
  expect(await second).toEqual(expect.stringContaining('/prepared/1/'));
  expect(setups.map(({ by, closed }) => ({ by, closed }))).toEqual([
    { by: 0, closed: true },
    { by: 1, closed: true },
  ]);
});

it('fail once for all, in every process', async () => {
  const { ask, began, setups, left } = createProcesses('failing', 3);
  const asked = [0, 0, 1, 1, 2].map((by) => ask(by));
  await began(1);
  setups[0]?.end(1);
  for (const result of await Promise.allSettled(asked))
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'setup_failed' } });
  await expect(ask(2)).rejects.toMatchObject({ code: 'setup_failed' });
  expect({ setups: setups.length, left: left() }).toEqual({ setups: 1, left: [] });
});

it('are damaged for all at once, and are made anew once', async () => {
  const before = createProcesses('damaged', 1);
  const making = before.ask(0);
  await before.began(1);
  before.setups[0]?.end(0);
  const layer = await making;
  await writeFile(join(layer ?? '', 'node_modules', 'dep'), 'damaged');
  const { ask, began, setups, left } = createProcesses('damaged', 3);
  const asked = [0, 1, 2].map((by) => ask(by));
  await began(1);
  setups[0]?.end(0);
  expect(await Promise.all(asked)).toEqual([layer, layer, layer]);
  expect(setups).toHaveLength(1);
  // The damaged one, for those who still read it.
  expect(left().map((name) => name.slice(0, 5))).toEqual(['.old-', expect.stringMatching(/^[0-9a-f]{5}$/)]);
});

it('the lock of a process that was killed is free', async () => {
  const path = join(home, 'lock');
  const module = fileURLToPath(new URL('../../../src/sandbox/bases/held-lock.ts', import.meta.url));
  const script = `
    const { withHeldLock } = await import(${JSON.stringify(module)});
    await withHeldLock(${JSON.stringify(path)}, new AbortController().signal, async () => {
      process.stdout.write('held');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    });`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  let got = false;
  const waiting = withHeldLock(path, never, async () => {
    got = true;
  });
  const gaveUp = withHeldLock(path, AbortSignal.timeout(100), async () => {});
  await expect(gaveUp).rejects.toThrow();
  expect(got).toBe(false);
  holder.kill('SIGKILL');
  await waiting;
  expect(got).toBe(true);
});
