import type { Sandboxes, SandboxKind } from '../sandbox/port.ts';
import type { Attempts } from '../store/port/attempts.ts';
import type { Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';

/** Says to the sandboxes what tasks will want next, so that they are started ahead. Never fails anybody. */
export interface StartAhead {
  /**
   * A plan is being made: as many as the worker has room for are started over the task's head, for nobody knows yet
   * how many it will need. Ends by the function it returns.
   */
  whilePlanning(task: Task): () => void;
  /**
   * Rows of the task were planned, taken by this worker, or ended: what comes next is counted anew, and again and again
   * until nothing does, for a word is soon forgotten and attempts are long.
   */
  changed(task: Task): void;
  /** Says nothing more, and waits for what it had begun. */
  stop(): Promise<void>;
}

export interface StartAheadDependencies {
  readonly sandboxes: Pick<Sandboxes, 'prewarm'>;
  readonly store: { readonly attempts: Pick<Attempts, 'comingUp'> };
  /** What sandboxes of agents over the task's head are made of; makes snapshot and layer where they are missing. */
  readonly kindOf: (task: Task, signal: AbortSignal) => Promise<SandboxKind>;
  readonly worker: string;
  /** Attempts it can run at once, and how many more it can take now. */
  readonly capacity: number;
  readonly room: () => number;
  /** How often each word is said again, ms: less than what the pool keeps idle ones for. */
  readonly renewMs: number;
  readonly log: Logger;
}

/** A task that this worker plans or runs. */
interface Ahead {
  readonly task: Task;
  /** Null: not asked for yet, or it failed. */
  group: Promise<Group> | null;
  /** How often it is being planned. */
  planning: number;
  told: boolean;
}

/** Tasks whose sandboxes are of one kind, e.g. several fixes of one commit: what they want adds up. */
interface Group {
  readonly kind: SandboxKind;
  readonly tasks: Map<string, Ahead>;
  /** Of tasks that are being planned. */
  readonly guesses: Map<string, number>;
  /** Memory of what was said to be wanted. */
  readonly said: Set<number | null>;
  counting: boolean;
  again: boolean;
}

/** Tasks that are remembered at once: those whose end another worker saw are dropped by this. */
const mostTasks = 200;

export function createStartAhead(deps: StartAheadDependencies): StartAhead {
  const { sandboxes, log } = deps;
  const { attempts } = deps.store;
  const who = { worker: deps.worker, most: deps.capacity };
  const stopping = new AbortController();
  const { signal } = stopping;
  const tasks = new Map<string, Ahead>();
  const groups = new Map<string, Group>();
  const running = new Set<Promise<void>>();

  function aheadOf(task: Task): Ahead {
    const known = tasks.get(task.id);
    if (known !== undefined) return known;
    const ahead: Ahead = { task, group: null, planning: 0, told: false };
    tasks.set(task.id, ahead);
    const [oldest] = tasks.keys();
    if (tasks.size > mostTasks && oldest !== undefined) forget(oldest);
    return ahead;
  }

  function forget(taskId: string): void {
    tasks.delete(taskId);
    for (const [key, group] of groups) {
      group.tasks.delete(taskId);
      if (group.tasks.size === 0 && !group.counting) groups.delete(key);
    }
  }

  /** Does it beside everything else. */
  function start(ahead: Ahead, work: () => Promise<void>): void {
    const job = work()
      .catch((error: unknown) => {
        if (ahead.told || signal.aborted) return;
        ahead.told = true;
        log.warn({ err: error, task: ahead.task.id }, 'nothing is started ahead for a task');
      })
      .finally(() => running.delete(job));
    running.add(job);
  }

  /** Its kind is made once for all that is said of the task; a failure is not remembered. */
  async function groupOf(ahead: Ahead): Promise<Group> {
    ahead.group ??= join(ahead).catch((error: unknown) => {
      ahead.group = null;
      throw error;
    });
    return await ahead.group;
  }

  async function join(ahead: Ahead): Promise<Group> {
    const kind = await deps.kindOf(ahead.task, signal);
    const key = JSON.stringify(kind);
    const fresh = { kind, counting: false, again: false };
    const group: Group = groups.get(key) ?? {
      ...{ ...fresh, tasks: new Map(), guesses: new Map(), said: new Set() },
    };
    groups.set(key, group);
    group.tasks.set(ahead.task.id, ahead);
    return group;
  }

  function say({ kind, said }: Group, wanted: ReadonlyMap<number | null, number>): void {
    for (const memoryMib of new Set([...said, ...wanted.keys()])) {
      const count = Math.min(wanted.get(memoryMib) ?? 0, deps.capacity);
      sandboxes.prewarm(memoryMib === null ? kind : { ...kind, memoryMib }, count);
      said.add(memoryMib);
    }
  }

  /** Counts what all tasks of the group want, once more if anything changed meanwhile. */
  async function count(group: Group): Promise<void> {
    group.again = true;
    if (group.counting) return;
    group.counting = true;
    try {
      while (group.again && !signal.aborted) {
        group.again = false;
        const asked = [...group.tasks.values()];
        const rows = await attempts.comingUp(
          asked.map(({ task }) => task.id),
          who,
        );
        if (signal.aborted) return;
        const wanted = new Map<number | null, number>();
        const add = (memory: number | null, more: number) =>
          wanted.set(memory, (wanted.get(memory) ?? 0) + more);
        for (const row of rows) add(row.memoryMib, row.count);
        for (const guess of group.guesses.values()) add(null, guess);
        say(group, wanted);
        const open = new Set(rows.map(({ taskId }) => taskId));
        for (const { task, planning } of asked) if (planning === 0 && !open.has(task.id)) forget(task.id);
      }
    } finally {
      group.counting = false;
    }
    if (group.tasks.size === 0) groups.delete(JSON.stringify(group.kind));
  }

  function guess(ahead: Ahead): void {
    // A triage is one row.
    const most = ahead.task.kind === 'triage' ? 1 : deps.capacity;
    start(ahead, async () => {
      const group = await groupOf(ahead);
      if (ahead.planning === 0) return;
      group.guesses.set(ahead.task.id, Math.max(0, Math.min(most, deps.room())));
      await count(group);
    });
  }

  const renewal = setInterval(() => {
    for (const ahead of [...tasks.values()]) {
      const { group } = ahead;
      if (ahead.planning > 0) guess(ahead);
      else if (group !== null) start(ahead, async () => await count(await group));
    }
  }, deps.renewMs).unref();

  return {
    whilePlanning(task) {
      // What is only planned, or cannot be planned, needs none.
      if (task.planOnly || task.config === null) return () => {};
      const ahead = aheadOf(task);
      ahead.planning += 1;
      let made = true;
      guess(ahead);
      return () => {
        if (made) ahead.planning -= 1;
        made = false;
        if (ahead.planning > 0) return;
        for (const group of groups.values()) group.guesses.delete(task.id);
      };
    },

    changed(task) {
      if (signal.aborted || task.planOnly) return;
      const ahead = aheadOf(task);
      start(ahead, async () => {
        // Nothing is made for what is over.
        if (ahead.group === null && (await attempts.comingUp([task.id], who)).length === 0) {
          if (ahead.group === null && ahead.planning === 0) forget(task.id);
          return;
        }
        await count(await groupOf(ahead));
      });
    },

    async stop() {
      clearInterval(renewal);
      stopping.abort(new Error('shutting down'));
      await Promise.all(running);
    },
  };
}
