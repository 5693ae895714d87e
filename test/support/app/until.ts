import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  /** Default 120,000: far beyond what a slow and busy machine takes. */
  readonly limitMs?: number;
  /** Default 50. */
  readonly everyMs?: number;
  readonly describe?: () => string | Promise<string>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks again and again until there is an answer that is not null, false or undefined, and returns it. Fails after
 * `limitMs` with what `describe` says of the state then. Waits for conditions, never for time.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<Exclude<T, null | undefined | false>> {
  const { limitMs = 120_000, everyMs = 50, signal } = options;
  for (const limit = performance.now() + limitMs; ; await delay(everyMs, undefined, { signal })) {
    signal?.throwIfAborted();
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) {
      return answer as Exclude<T, null | undefined | false>;
    }
    if (performance.now() > limit) break;
  }
  const state = (await options.describe?.()) ?? '';
  throw new Error(`${what}: not within ${limitMs / 1000} s\n${state}`);
}
