import type { Attempts } from '../store/port/attempts.ts';
import type { Workers } from '../store/port/workers.ts';
import type { Logger } from '../telemetry/log.ts';
import { ClaimLost } from './heartbeat.ts';
import type { Work } from './perform.ts';

/** What a worker runs at once, and how it comes to it: the queue wakes, the rows decide (ADR 0015). */
export interface Dispatch {
  /** Waits until there is room, then takes what there is for this worker. Ends once that began. */
  wake(signal: AbortSignal): Promise<void>;
  /**
   * Gives the worker's sign of life, ends the attempts whose claims are gone, and takes what has waited here though
   * there is room: a wake-up was lost, or met a worker that had to leave it to others.
   */
  look(): Promise<void>;
  /** Weight that it can take now. */
  room(): number;
  /** Takes nothing more, gives back what runs, waits for it. */
  stop(): Promise<void>;
  /** The last of all: what the worker has from then on is taken for a dead one's. Never fails. */
  signOff(): Promise<void>;
}

export interface DispatchDependencies {
  readonly store: { readonly attempts: Pick<Attempts, 'claimNext'>; readonly workers: Workers };
  /** Runs a claimed attempt to its end. `gone` aborts when its claim is gone, `shutdown` to give it back. */
  readonly run: (work: Work, signals: { gone: AbortSignal; shutdown: AbortSignal }) => Promise<void>;
  /** Told when attempts of that task were taken here, or one ended. Must not throw. */
  readonly changed: (task: Work['task']) => void;
  /** Whether attempts can run here now: a worker whose engine is away takes none, rather than fail them all. */
  readonly canRun: () => Promise<boolean>;
  readonly worker: string;
  /** Weight that runs at once. */
  readonly capacity: number;
  readonly log: Logger;
}

interface Running {
  readonly work: Work;
  readonly gone: AbortController;
  readonly weight: number;
  ended: Promise<void>;
}

/** How long an attempt is left to the wake-ups before a look takes it, milliseconds. */
const waitingMs = 1000;

export function createDispatch(deps: DispatchDependencies): Dispatch {
  const { store, worker, capacity, log } = deps;
  const shutdown = new AbortController();
  const running = new Map<string, Running>();
  const waiters: (() => void)[] = [];
  let taking: Promise<unknown> = Promise.resolve();
  /** Attempts that were asked for since the last claim began: one claim takes what many wake-ups ask for. */
  let asked = 0;

  // What is heavier than the whole worker takes all of it.
  const weightOf = ({ subtask }: Work) => Math.min(subtask.weight, capacity);
  const free = () => [...running.values()].reduce((left, { weight }) => left - weight, capacity);

  /** One claim at a time: two that see the same room would both fill it. */
  function take(most: number): Promise<void> {
    asked += most;
    const next = taking.then(async () => {
      const wanted = Math.min(asked, free());
      asked = 0;
      if (wanted <= 0 || shutdown.signal.aborted || !(await deps.canRun())) return;
      const room = { free: free(), capacity, most: wanted };
      const taken = await store.attempts.claimNext(worker, room);
      for (const work of taken) begin(work);
      for (const task of new Map(taken.map((work) => [work.task.id, work.task])).values()) deps.changed(task);
    });
    taking = next.catch(() => {});
    return next;
  }

  function begin(work: Work): void {
    const gone = new AbortController();
    const weight = weightOf(work);
    const { attemptId } = work.claim;
    const end = async () => {
      try {
        await deps.run(work, { gone: gone.signal, shutdown: shutdown.signal });
      } catch (error) {
        log.error(
          { err: error, attempt: attemptId },
          'an attempt ended badly: the rows tell what is missing',
        );
      }
      // Given back, it may have been taken anew by now.
      if (running.get(attemptId) === entry) running.delete(attemptId);
      for (const wakeUp of waiters.splice(0)) wakeUp();
      // What it made room for may have been queued long ago, and its wake-up been in vain.
      await tryTake(weight);
      // What comes next is not for a worker that goes.
      if (!shutdown.signal.aborted) deps.changed(work.task);
    };
    const entry: Running = { work, gone, weight, ended: Promise.resolve() };
    running.set(attemptId, entry);
    entry.ended = end();
  }

  async function tryTake(most: number): Promise<void> {
    try {
      await take(most);
    } catch (error) {
      log.warn({ err: error }, 'no attempt could be taken: the next look tries again');
    }
  }

  return {
    room: () => Math.max(0, free()),

    async wake(signal) {
      while (free() <= 0 && !shutdown.signal.aborted) {
        signal.throwIfAborted();
        const { promise, resolve } = Promise.withResolvers<void>();
        waiters.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
        await promise;
      }
      // The rows share out what waits: those that come together are taken together.
      await take(Math.max(1, free()));
    },

    async look() {
      const held = new Map(running);
      const claims = [...held.values()].map(({ work }) => work.claim);
      const { gone, waiting } = await store.workers.look(worker, { capacity, claims, waitingMs });
      for (const id of gone) held.get(id)?.gone.abort(new ClaimLost('the attempt was lost or cancelled'));
      if (waiting) await tryTake(capacity);
    },

    async stop() {
      shutdown.abort(new Error('shutting down'));
      for (const wakeUp of waiters.splice(0)) wakeUp();
      await taking;
      await Promise.all([...running.values()].map(({ ended }) => ended));
    },

    async signOff() {
      await store.workers.leave(worker).catch((error: unknown) => {
        log.warn({ err: error }, 'the worker could not sign off');
      });
    },
  };
}
