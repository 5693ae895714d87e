import { PatchfleetError } from '../domain/failure.ts';

/**
 * The limits of one attempt: wall clock and idleness. `signal` aborts with the reason; `alive()` is called on
 * every sign of life.
 */
export interface Watch {
  readonly signal: AbortSignal;
  alive(): void;
  /** The wall-clock limit moves out by as much: what begins now has limits of its own. Less than 0: moves back. */
  extend(ms: number): void;
  stop(): void;
}

export function watchLimits(limits: { wallMs: number; idleMs: number }, parent: AbortSignal): Watch {
  const ended = new AbortController();
  const end = (error: PatchfleetError) => ended.abort(error);
  const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
  const began = performance.now();
  let wallMs = limits.wallMs;
  const overdue = () => end(new PatchfleetError('wall_limit', `stopped after ${seconds(wallMs)}`));
  let wall = setTimeout(overdue, wallMs);
  const idleDetail = `no stream byte, output, tool call or CPU time for ${seconds(limits.idleMs)}`;
  const idle = setTimeout(() => end(new PatchfleetError('idle_limit', idleDetail)), limits.idleMs);
  return {
    signal: AbortSignal.any([ended.signal, parent]),
    alive: () => {
      idle.refresh();
    },
    extend: (ms) => {
      if (ended.signal.aborted) return;
      wallMs += ms;
      clearTimeout(wall);
      wall = setTimeout(overdue, wallMs - (performance.now() - began));
    },
    stop: () => {
      clearTimeout(wall);
      clearTimeout(idle);
    },
  };
}
