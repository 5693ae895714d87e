import { afterEach, expect, it, vi } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { inSandbox } from '../../../src/execution/open-workspace.ts';
import type { AttemptTools, Work } from '../../../src/execution/perform.ts';
import { watchLimits } from '../../../src/execution/watch.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';

afterEach(() => void vi.useRealTimers());

it('gives a setup its own time, and takes back what it did not need', async () => {
  vi.useFakeTimers();
  const watch = watchLimits({ wallMs: 200_000, idleMs: 60_000 }, new AbortController().signal);
  const made = Promise.withResolvers<{ snapshot: string }>();
  const tools = {
    signal: watch.signal,
    ...{ alive: watch.alive, extend: watch.extend, started: async () => {} },
  } as unknown as AttemptTools;
  const config = repositoryConfigSchema.parse({ setup: { commands: [['npm', 'ci']], seconds: 600 } });
  const work = {
    task: { id: 'task', repositoryId: 1, config },
    subtask: { matrix: { limits: { wallMs: 200_000 } } },
    claim: { attemptId: 'attempt', epoch: 1 },
  } as unknown as Work;
  const ports = {
    kinds: { of: () => made.promise },
    sandboxes: { acquire: async () => ({ containerId: 'c', close: async () => {} }) },
  } as unknown as Parameters<typeof inSandbox>[0];
  let begun = false;
  const done = Promise.withResolvers<string>();
  const used = inSandbox(ports, work, tools, { mirrorDir: '/mirror', commit: 'c' }, () => {
    begun = true;
    return done.promise;
  });
  await vi.advanceTimersByTimeAsync(500_000);
  expect(watch.signal.aborted).toBe(false);
  made.resolve({ snapshot: '/snapshot' });
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toBe(true);
  // The agent has its own 200 s, and no more.
  for (const [ms, over] of [
    [199_000, false],
    [2_000, true],
  ] as const) {
    for (let at = 0; at < ms; at += 1000) {
      watch.alive();
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(watch.signal.aborted).toBe(over);
  }
  done.resolve('used');
  expect(await used).toBe('used');
  watch.stop();
});

it('does not take the wait for a sandbox among many for idleness, but bounds it by the wall clock', async () => {
  vi.useFakeTimers();
  const watch = watchLimits({ wallMs: 200_000, idleMs: 60_000 }, new AbortController().signal);
  const acquired = Promise.withResolvers<Sandbox>();
  const tools = {
    signal: watch.signal,
    alive: watch.alive,
    extend: watch.extend,
    started: async () => {},
  } as unknown as AttemptTools;
  const work = {
    task: { id: 'task', repositoryId: 1, config: repositoryConfigSchema.parse({}) },
    subtask: { matrix: { limits: { wallMs: 200_000 } } },
    claim: { attemptId: 'attempt', epoch: 1 },
  } as unknown as Work;
  const ports = {
    kinds: { of: async () => ({ snapshot: '/snapshot' }) },
    sandboxes: { acquire: () => acquired.promise },
  } as unknown as Parameters<typeof inSandbox>[0];
  const close = vi.fn(async () => {});
  const used = inSandbox(ports, work, tools, { mirrorDir: '/mirror', commit: 'c' }, async () => 'used');
  await vi.advanceTimersByTimeAsync(150_000);
  expect(watch.signal.aborted).toBe(false);
  acquired.resolve({ containerId: 'c', close } as unknown as Sandbox);
  expect(await used).toBe('used');
  expect(close).toHaveBeenCalledOnce();
  // It has begun: silence counts again, and the wall clock has gone on all the while.
  await vi.advanceTimersByTimeAsync(60_000);
  expect(watch.signal.aborted).toBe(true);
  watch.stop();
});
