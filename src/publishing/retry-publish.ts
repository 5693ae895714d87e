import type { TaskPhase } from '../domain/task.ts';

/** Publishes of a settled task that fail in a row before it is given up: about two hours, with the pauses. */
const mostTries = 30;
const firstPauseMs = 1000;
const longestPauseMs = 5 * 60_000;

/** What follows a failed publish. `leave`: nothing, since all was published before, or was given up. */
export type AfterFailedPublish =
  | { readonly kind: 'leave' }
  | { readonly kind: 'pause' | 'give_up'; readonly pauseMs: number };

/**
 * `tries`: failures in a row, this one included, at least 1. Only what is over can be given up: of a task that still
 * works, what failed is news of its progress, which its result will follow.
 */
export function afterFailedPublish(phase: TaskPhase, tries: number): AfterFailedPublish {
  if (phase === 'finished') return { kind: 'leave' };
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1));
  return { kind: phase === 'publishing' && tries >= mostTries ? 'give_up' : 'pause', pauseMs };
}
