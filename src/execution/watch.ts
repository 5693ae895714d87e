import { PatchfleetError } from '../domain/failure.ts';

/**
 * The limits of one attempt: wall clock and idleness. `signal` aborts with the reason; `alive()` is called on
 * every sign of life.
 */
export interface Watch {
  readonly signal: AbortSignal;
  alive(): void;
  stop(): void;
}

export function watchLimits(limits: { wallMs: number; idleMs: number }, parent: AbortSignal): Watch {
  const ended = new AbortController();
  const end = (error: PatchfleetError) => ended.abort(error);
  const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
  const wall = setTimeout(
    () => end(new PatchfleetError('wall_limit', `stopped after ${seconds(limits.wallMs)}`)),
    limits.wallMs,
  );
  const idleDetail = `no stream byte, output or tool call for ${seconds(limits.idleMs)}`;
  const idle = setTimeout(() => end(new PatchfleetError('idle_limit', idleDetail)), limits.idleMs);
  return {
    signal: AbortSignal.any([ended.signal, parent]),
    alive: () => {
      idle.refresh();
    },
    stop: () => {
      clearTimeout(wall);
      clearTimeout(idle);
    },
  };
}
