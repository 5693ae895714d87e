import type { Failure, FailureCode } from './failure.ts';
import type { AttemptStatus } from './task.ts';

/**
 * Whether a new attempt goes on from the turns that were kept of the one before, or begins anew. What an agent has
 * done stands where the world around it failed; where its work was judged, or is to be done otherwise, it does not.
 */

/** Failures that say nothing about the agent's work. */
const ofTheWorld: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'model_unavailable',
  'model_timeout',
  'sandbox_died',
  'memory_exhausted',
  'sandbox_unavailable',
  'github_unavailable',
  'git_failed',
  'internal',
  'idle_limit',
]);

/** Whether the turns of an attempt that failed so are worth keeping. */
export function turnsStand(code: FailureCode): boolean {
  return ofTheWorld.has(code);
}

/** Kept turns and the attempt that wrote the last of them. */
export interface KeptRun {
  readonly attemptId: string;
  /** Digest of all that the conversation began with: agent, base, first messages, tools. */
  readonly beginning: string;
}

/** How the newest attempt of the row ended, the present one apart. */
export interface EarlierAttempt {
  readonly status: AttemptStatus;
  readonly failure: Failure | null;
}

export type Resumption =
  | { readonly goesOn: true }
  /** Why it begins anew, in plain words. */
  | { readonly goesOn: false; readonly because: string };

export function decideResumption(
  kept: KeptRun,
  now: { readonly attemptId: string; readonly beginning: string },
  earlier: EarlierAttempt | null,
): Resumption {
  const anew = (because: string): Resumption => ({ goesOn: false, because });
  if (kept.beginning !== now.beginning) return anew('its agent, its base or what it is told has changed');
  // The same attempt, which was given back.
  if (kept.attemptId === now.attemptId) return { goesOn: true };
  if (earlier === null) return anew('nothing is known of the attempt before');
  if (earlier.status === 'lost') return { goesOn: true };
  if (earlier.status !== 'failed') return anew(`the attempt before is ${earlier.status}`);
  if (earlier.failure === null) return anew('it is not known why the attempt before failed');
  return turnsStand(earlier.failure.code)
    ? { goesOn: true }
    : anew(`the attempt before failed with ${earlier.failure.code}`);
}
