import type { SandboxConfig } from '../../config/sandbox-config.ts';
import type { Slots } from '../../domain/slots.ts';
import { engineProblem } from '../container/docker-host.ts';
import type { OpenSandbox } from '../open-sandbox.ts';
import type { SandboxKind } from '../port.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { kindKey } from './kind-key.ts';
import { createPoolKinds } from './pool-kinds.ts';
import { planPool } from './pool-plan.ts';

/** Timers take little more, and fire at once beyond it. */
const longestTimerMs = 2_000_000_000;

/** What a pool did so far, and has now. Read, not written, by others. */
export interface PoolFigures {
  /** Handed out: ready before it was asked for; being started then; not started ahead. */
  ready: number;
  starting: number;
  cold: number;
  /** Started ahead; of these failed to start, died or failed the last look, let go. */
  started: number;
  failed: number;
  dead: number;
  dropped: number;
  /** In the pool now, those included that are being started. */
  pooled: number;
}

export interface Taken {
  readonly sandbox: OpenSandbox;
  readonly from: 'ready' | 'starting' | 'cold';
}

/** Sandboxes that are started ahead, each for one use. Decisions are in pool-plan.ts. */
export interface Pool {
  /** One of that kind that nobody used: a ready one, one that is being started, or else a fresh one. */
  take(kind: SandboxKind, signal: AbortSignal): Promise<Taken>;
  /** See `Sandboxes.prewarm`. */
  prewarm(kind: SandboxKind, count: number): void;
  /** Nothing is started ahead any more; removes what was, and waits for that. */
  close(): Promise<void>;
  readonly figures: Readonly<PoolFigures>;
}

export interface PoolDependencies {
  readonly open: (kind: SandboxKind, signal: AbortSignal) => Promise<OpenSandbox>;
  /** Bounds all starts. The pool takes what is free and never waits: so whoever waits for a start goes first. */
  readonly slots: Slots;
  readonly config: SandboxConfig;
  readonly log: SandboxLog;
}

interface Member {
  readonly id: number;
  readonly key: string;
  readonly abort: AbortController;
  /** Null: it failed. */
  started: Promise<OpenSandbox | null>;
  ready: { readonly sandbox: OpenSandbox; readonly at: number } | null;
}

export function createPool({ open, slots, config, log }: PoolDependencies): Pool {
  const limits = { ...config.pool, idleMs: config.pool.idle_seconds * 1000 };
  const now = () => performance.now();
  const kinds = createPoolKinds(limits.idleMs, now);
  /** What nobody has taken, oldest first. */
  const members = new Map<number, Member>();
  const leaving = new Set<Promise<void>>();
  const figures = { ready: 0, starting: 0, cold: 0, started: 0, failed: 0, dead: 0, dropped: 0 };
  let nextId = 1;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function leave(sandbox: OpenSandbox): void {
    const gone = sandbox.discard().then(() => void leaving.delete(gone));
    leaving.add(gone);
  }

  /** Told once of each kind, until one of it was of use: a pool that cannot start tries for as long as it is wanted. */
  function failed(key: string, what: string, problem: string): void {
    if (closed || !kinds.failed(key)) return;
    log.warn({ problem }, `${what}; attempts start their own`);
  }

  function begin(key: string, kind: SandboxKind, giveBack: () => void): void {
    const abort = new AbortController();
    const member: Member = { id: nextId++, key, abort, started: Promise.resolve(null), ready: null };
    members.set(member.id, member);
    const start = async () => {
      try {
        const sandbox = await open(kind, abort.signal);
        figures.started += 1;
        member.ready = { sandbox, at: now() };
        void sandbox.over.then((why) => died(member, sandbox, why));
        return sandbox;
      } catch (thrown) {
        members.delete(member.id);
        if (!abort.signal.aborted) {
          figures.failed += 1;
          failed(key, 'a sandbox could not be started ahead', engineProblem(thrown));
        }
        return null;
      } finally {
        giveBack();
        update();
      }
    };
    member.started = start();
  }

  function died(member: Member, sandbox: OpenSandbox, why: Error): void {
    // Taken or let go: others know of it.
    if (!members.delete(member.id)) return;
    figures.dead += 1;
    failed(member.key, 'a sandbox that was ready died', why.message);
    leave(sandbox);
    update();
  }

  /** Brings the pool to what is wanted of it. */
  function update(): void {
    clearTimeout(timer);
    if (closed) return;
    const plan = planPool({
      now: now(),
      limits,
      kinds: kinds.all(),
      sandboxes: [...members.values()].map(({ id, key, ready }) => ({ id, key, readyAt: ready?.at ?? null })),
    });
    for (const id of plan.drop) {
      const sandbox = members.get(id)?.ready?.sandbox;
      members.delete(id);
      if (sandbox === undefined) continue;
      figures.dropped += 1;
      leave(sandbox);
    }
    for (const key of plan.forget) kinds.forget(key);
    for (const key of plan.start) {
      const kind = kinds.kindOf(key);
      // No slot: whoever has one looks here when it gives it back.
      const giveBack = kind === null ? null : slots.tryTake();
      if (kind === null || giveBack === null) break;
      begin(key, kind, giveBack);
    }
    if (plan.wakeAt === null) return;
    timer = setTimeout(update, Math.min(longestTimerMs, Math.max(1, Math.ceil(plan.wakeAt - now())))).unref();
  }

  /** A healthy one of the pool; null: there is none. */
  async function takePooled(key: string, signal: AbortSignal): Promise<Taken | null> {
    for (;;) {
      const mine = [...members.values()].filter((member) => member.key === key);
      const member = mine.find(({ ready }) => ready !== null) ?? mine[0];
      if (member === undefined) return null;
      members.delete(member.id);
      const from = member.ready === null ? 'starting' : 'ready';
      const giveUp = () => member.abort.abort(signal.reason);
      signal.addEventListener('abort', giveUp, { once: true });
      const sandbox = await member.started;
      signal.removeEventListener('abort', giveUp);
      if (sandbox === null) {
        signal.throwIfAborted();
        continue;
      }
      // One that has just said hello is well.
      const problem = from === 'ready' ? await sandbox.problem() : null;
      if (problem === null && !signal.aborted) {
        kinds.served(key);
        return { sandbox, from };
      }
      leave(sandbox);
      signal.throwIfAborted();
      figures.dead += 1;
      log.warn({ container: sandbox.container.id, problem }, 'a sandbox that was ready is of no use');
    }
  }

  async function openCold(kind: SandboxKind, signal: AbortSignal): Promise<Taken> {
    const giveBack = await slots.take(signal);
    try {
      return { sandbox: await open(kind, signal), from: 'cold' };
    } finally {
      giveBack();
    }
  }

  return {
    async take(wanted, signal) {
      signal.throwIfAborted();
      const key = kindKey(config, wanted);
      kinds.taken(key);
      try {
        const taken = (await takePooled(key, signal)) ?? (await openCold(wanted, signal));
        figures[taken.from] += 1;
        return taken;
      } finally {
        update();
      }
    },

    prewarm(wanted, count) {
      if (closed || limits.max === 0) return;
      kinds.said(kindKey(config, wanted), wanted, count);
      update();
    },

    async close() {
      closed = true;
      clearTimeout(timer);
      const all = [...members.values()];
      members.clear();
      for (const { abort } of all) abort.abort(new Error('the pool is closed'));
      for (const sandbox of await Promise.all(all.map(({ started }) => started)))
        if (sandbox !== null) leave(sandbox);
      await Promise.all(leaving);
    },

    get figures() {
      return { ...figures, pooled: members.size };
    },
  };
}
