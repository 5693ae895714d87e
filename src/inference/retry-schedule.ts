import type { CallFailure } from './call-failure.ts';

/** Tries after the first one. */
const furtherTries = 2;
/** Wait before the first further try where the server does not name one, milliseconds; doubles each time. */
const firstDelayMs = 500;
/**
 * The longest wait a server may ask for, milliseconds. Limits that reset each minute ask for somewhat over 60 s;
 * whoever asks for more than five minutes is better served by another attempt later.
 */
const longestRetryAfterMs = 300_000;

/**
 * Milliseconds to wait before the next try; null: give up. `failures` counts the tries that failed, this one
 * included; `random` is in [0, 1) and spreads the tries of parallel agents: over half the wait where we choose
 * it, and over a quarter on top where the server named it (never earlier than it said).
 */
export function retryDelay(failure: CallFailure, failures: number, random: number): number | null {
  if (!failure.retryable || failures > furtherTries) return null;
  if (failure.retryAfterMs !== null) {
    if (failure.retryAfterMs > longestRetryAfterMs) return null;
    return Math.ceil(failure.retryAfterMs * (1 + random / 4));
  }
  const full = firstDelayMs * 2 ** (failures - 1);
  return Math.ceil(full * (0.5 + random / 2));
}
