import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStartAhead } from '../../../src/execution/start-ahead.ts';
import type { Sandboxes, SandboxKind } from '../../../src/sandbox/port.ts';
import type { Task } from '../../../src/store/port.ts';
import { poolSetting } from '../sandbox/fake-opener.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());
const settled = () => vi.advanceTimersByTimeAsync(0);

const task = { id: 't', kind: 'fix', planOnly: false, config: {} } as Task;
type Rows = { taskId?: string; memoryMib: number | null; count: number }[];

/** What was said to the sandboxes, e.g. `snapshot*3` or `snapshot@2048*1`. */
function setting(
  options: {
    room?: number;
    rows?: Rows;
    kind?: () => Promise<SandboxKind>;
    prewarm?: Sandboxes['prewarm'];
    renewMs?: number;
  } = {},
) {
  const said: string[] = [];
  const warnings: string[] = [];
  const state = { room: options.room ?? 4, rows: options.rows ?? [], asked: 0 };
  const ahead = createStartAhead({
    sandboxes: {
      prewarm: (kind, count) => {
        const { snapshot, memoryMib } = kind;
        said.push(`${snapshot}${memoryMib === undefined ? '' : `@${memoryMib}`}*${count}`);
        options.prewarm?.(kind, count);
      },
    },
    store: {
      attempts: {
        comingUp: async (ids) => {
          state.asked += 1;
          await Promise.resolve();
          return state.rows
            .map((row) => ({ taskId: 't', ...row }))
            .filter(({ taskId }) => ids.includes(taskId));
        },
      },
    },
    kindOf: options.kind ?? (async () => ({ snapshot: 'head' })),
    worker: 'w',
    capacity: 8,
    room: () => state.room,
    renewMs: options.renewMs ?? 1000,
    log: { warn: (_: object, message: string) => void warnings.push(message) } as unknown as Parameters<
      typeof createStartAhead
    >[0]['log'],
  });
  return { ahead, said, warnings, state };
}

describe('while a plan is made', () => {
  it('as many are said to be wanted as there is room for, again and again, until it is there', async () => {
    const { ahead, said, state } = setting();
    const planned = ahead.whilePlanning(task);
    await settled();
    state.room = 2;
    await vi.advanceTimersByTimeAsync(1000);
    planned();
    state.rows = [
      { memoryMib: null, count: 20 },
      { memoryMib: 2048, count: 1 },
    ];
    ahead.changed(task);
    await settled();
    expect(said).toEqual(['head*4', 'head*2', 'head*8', 'head@2048*1']);
  });

  it.each([
    ['a triage wants one', { kind: 'triage' }, ['head*1']],
    ['what is only planned wants none', { planOnly: true }, []],
    ['what cannot be planned wants none', { config: null }, []],
  ] as const)('%s', async (_, change, words) => {
    const { ahead, said } = setting();
    ahead.whilePlanning({ ...task, ...change } as Task)();
    const again = ahead.whilePlanning({ ...task, ...change } as Task);
    await settled();
    again();
    expect([...new Set(said)]).toEqual(words);
  });

  it('a guess that comes too late is not said', async () => {
    const kind = Promise.withResolvers<SandboxKind>();
    const { ahead, said, state } = setting({ kind: () => kind.promise });
    const planned = ahead.whilePlanning(task);
    planned();
    state.rows = [{ memoryMib: null, count: 1 }];
    ahead.changed(task);
    kind.resolve({ snapshot: 'head' });
    await settled();
    expect(said).toEqual(['head*1']);
  });
});

describe('while attempts run', () => {
  it('what waits behind them is ready when they end, however long that takes, and goes when nothing waits', async () => {
    const at = poolSetting({ max: 4, idle_seconds: 60 }, 4);
    const { ahead, state } = setting({
      prewarm: at.pool.prewarm,
      rows: [{ memoryMib: null, count: 2 }],
      renewMs: 30_000,
    });
    ahead.changed(task);
    await settled();
    await at.succeedAll();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(at.pool.figures).toMatchObject({ started: 2, dropped: 0, pooled: 2 });
    const { from } = await at.pool.take({ snapshot: 'head' }, new AbortController().signal);
    expect(from).toBe('ready');
    // Whoever ended the task was another worker.
    state.rows = [];
    await vi.advanceTimersByTimeAsync(30_000);
    expect(at.pool.figures).toMatchObject({ started: 2, dropped: 1, pooled: 0 });
    const { asked } = state;
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(state.asked).toBe(asked);
  });

  it('what is no longer wanted is said once, and its task forgotten', async () => {
    const { ahead, said, state } = setting({ rows: [{ memoryMib: 2048, count: 2 }] });
    ahead.changed(task);
    await settled();
    state.rows = [];
    ahead.changed(task);
    await settled();
    ahead.changed(task);
    await settled();
    expect(said).toEqual(['head@2048*2', 'head@2048*0']);
  });

  it('what changes while it is counted is counted once more, not as often as it changed', async () => {
    const { ahead, said, state } = setting({ rows: [{ memoryMib: null, count: 3 }] });
    for (let n = 0; n < 20; n += 1) ahead.changed(task);
    await settled();
    // Each looks whether it is worth making anything, until that is made.
    expect({ asked: state.asked, said }).toEqual({ asked: 22, said: ['head*3', 'head*3'] });
    for (let n = 0; n < 20; n += 1) ahead.changed(task);
    await settled();
    expect(state.asked).toBe(24);
  });

  it('what tasks of one commit want adds up, and the end of one takes nothing from the others', async () => {
    const { ahead, said, state } = setting();
    const last = async (count: number) => {
      await settled();
      return said.splice(0).slice(-count);
    };
    const other = { ...task, id: 'other' };
    const planned = ahead.whilePlanning(other);
    state.rows = [{ memoryMib: null, count: 2 }];
    ahead.changed(task);
    expect(await last(1)).toEqual(['head*6']);
    planned();
    state.rows.push({ taskId: 'other', memoryMib: 2048, count: 1 });
    ahead.changed(other);
    expect(await last(2)).toEqual(['head*2', 'head@2048*1']);
    state.rows.shift();
    ahead.changed(task);
    expect(await last(2)).toEqual(['head*0', 'head@2048*1']);
  });

  it('a failure is told once, fails nobody, and is tried again', async () => {
    let fails = true;
    const kind = async () => {
      if (fails) throw new Error('git is away');
      return { snapshot: 'head' };
    };
    const { ahead, said, warnings } = setting({ kind, rows: [{ memoryMib: null, count: 1 }] });
    ahead.whilePlanning(task)();
    ahead.changed(task);
    await settled();
    fails = false;
    ahead.changed(task);
    await settled();
    expect({ said, warnings }).toEqual({
      said: ['head*1'],
      warnings: ['nothing is started ahead for a task'],
    });
  });

  it('nothing is said once it has stopped', async () => {
    const kind = Promise.withResolvers<SandboxKind>();
    const { ahead, said, warnings } = setting({
      kind: () => kind.promise,
      rows: [{ memoryMib: null, count: 1 }],
    });
    ahead.whilePlanning(task);
    ahead.changed(task);
    const stopped = ahead.stop();
    kind.reject(new Error('aborted'));
    await stopped;
    ahead.changed(task);
    await vi.advanceTimersByTimeAsync(10_000);
    expect({ said, warnings }).toEqual({ said: [], warnings: [] });
  });
});
