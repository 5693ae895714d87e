import type { Sandboxes, SandboxKind } from '../sandbox/port.ts';
import type { Attempts, Task } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';

/** Says to the sandboxes what tasks will want next, so that they are started ahead. Never fails anybody. */
export interface StartAhead {
  /**
   * A plan is being made: as many as the worker has room for are started over the task's head, for nobody knows yet
   * how many it will need. Ends by the function it returns.
   */
  whilePlanning(task: Task): () => void;
  /** Rows of the task were planned, taken by this worker, or ended: what comes next is counted anew. */
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
  /** How often the word is said again while a plan is made, ms: less than what the pool keeps idle ones for. */
  readonly renewMs: number;
  readonly log: Logger;
}

interface Ahead {
  readonly task: Task;
  kind: Promise<SandboxKind> | null;
  /** Memory of what was said to be wanted. */
  readonly said: Set<number | null>;
  planning: number;
  counting: boolean;
  again: boolean;
  told: boolean;
}

/** Tasks that are remembered at once: those whose end another worker saw are dropped by this. */
const mostTasks = 200;

export function createStartAhead(deps: StartAheadDependencies): StartAhead {
  const { sandboxes, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const tasks = new Map<string, Ahead>();
  const running = new Set<Promise<void>>();

  function aheadOf(task: Task): Ahead {
    const known = tasks.get(task.id);
    if (known !== undefined) return known;
    const ahead = { task, kind: null, said: new Set<null>(), planning: 0, counting: false, again: false };
    const made: Ahead = { ...ahead, told: false };
    tasks.set(task.id, made);
    const [oldest] = tasks.keys();
    if (tasks.size > mostTasks && oldest !== undefined) tasks.delete(oldest);
    return made;
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

  /** Made once for all that is said of the task; a failure is not remembered. */
  function kindOf(ahead: Ahead): Promise<SandboxKind> {
    ahead.kind ??= deps.kindOf(ahead.task, signal).catch((error: unknown) => {
      ahead.kind = null;
      throw error;
    });
    return ahead.kind;
  }

  async function say(
    ahead: Ahead,
    wanted: ReadonlyMap<number | null, number>,
    still: () => boolean,
  ): Promise<void> {
    const kind = await kindOf(ahead);
    if (signal.aborted || !still()) return;
    for (const memoryMib of new Set([...ahead.said, ...wanted.keys()])) {
      const count = Math.min(wanted.get(memoryMib) ?? 0, deps.capacity);
      sandboxes.prewarm(memoryMib === null ? kind : { ...kind, memoryMib }, count);
      ahead.said.add(memoryMib);
    }
  }

  async function count(ahead: Ahead): Promise<void> {
    const rows = await deps.store.attempts.comingUp(ahead.task.id, deps.worker);
    const wanted = new Map(rows.map((row) => [row.memoryMib, row.count]));
    if (rows.length > 0 || ahead.kind !== null) await say(ahead, wanted, () => ahead.planning === 0);
    if (rows.length === 0 && ahead.planning === 0 && !ahead.again) tasks.delete(ahead.task.id);
  }

  return {
    whilePlanning(task) {
      // What is only planned, or cannot be planned, needs none.
      if (task.planOnly || task.config === null) return () => {};
      const ahead = aheadOf(task);
      ahead.planning += 1;
      let made = true;
      const guess = () => {
        // A triage is one row.
        const most = task.kind === 'triage' ? 1 : deps.capacity;
        const count = Math.max(0, Math.min(most, deps.room()));
        start(ahead, () => say(ahead, new Map([[null, count]]), () => made));
      };
      guess();
      const renewal = setInterval(guess, deps.renewMs).unref();
      return () => {
        if (made) ahead.planning -= 1;
        made = false;
        clearInterval(renewal);
      };
    },

    changed(task) {
      if (signal.aborted || task.planOnly) return;
      const ahead = aheadOf(task);
      ahead.again = true;
      if (ahead.counting) return;
      ahead.counting = true;
      start(ahead, async () => {
        try {
          while (ahead.again && !signal.aborted) {
            ahead.again = false;
            await count(ahead);
          }
        } finally {
          ahead.counting = false;
        }
      });
    },

    async stop() {
      stopping.abort(new Error('shutting down'));
      await Promise.all(running);
    },
  };
}
