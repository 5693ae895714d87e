import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { JournalEntry } from './journal.ts';
import { Refusal } from './router.ts';

/**
 * Called after the k-th write (counted from 1 since the double started) took effect and before it is answered.
 * Resolving with `drop` cuts the connection instead of answering.
 */
export type WriteHook = (entry: JournalEntry, k: number) => unknown;

export interface FailureOptions {
  /** How many requests fail; default 1. */
  readonly times?: number;
  /** True: the request takes effect first and fails afterwards, as a gateway's time-out does. */
  readonly applied?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: string;
}

export interface Faults {
  /** Returns a function that takes the hook away. */
  onWrite(hook: WriteHook): () => void;
  /** Holds (never answers) or drops the k-th write from now; holding lasts until the client goes or `release`. */
  arm(k: number, action: 'hold' | 'drop'): void;
  disarm(): void;
  /** The write that is being held; waits up to `timeoutMs` for one, then null. */
  held(timeoutMs: number): Promise<JournalEntry | null>;
  /** Ends the holding; with an entry, only where that one is held. */
  release(how: 'answer' | 'drop', entry?: JournalEntry): void;
  /** Fails requests whose `METHOD /route` contains the pattern (or matches it). */
  failNext(pattern: string | RegExp, status: number, options?: FailureOptions): void;
  /** The next n writes meet the secondary rate limit. */
  limitWrites(n: number, options?: { readonly status?: 403 | 429; readonly retryAfter?: number }): void;
  /** Every answer takes so much longer, milliseconds. */
  slow(ms: number): void;
  /** For the server: the time that an answer takes. */
  pause(): Promise<void>;
  /** For the server: a failure due before the request is handled is thrown, one due after is returned. */
  before(route: string, write: boolean): Refusal | null;
  /** For the server: true where the answer must not be sent. */
  after(entry: JournalEntry): Promise<'answer' | 'drop'>;
}

interface PendingFailure extends FailureOptions {
  readonly pattern: string | RegExp;
  readonly status: number;
  left: number;
}

export function createFaults(): Faults {
  const hooks = new Set<WriteHook>();
  const events = new EventEmitter().setMaxListeners(0);
  const failures: PendingFailure[] = [];
  let written = 0;
  let armed: { at: number; action: 'hold' | 'drop' } | null = null;
  let holding: JournalEntry | null = null;
  let slowMs = 0;
  let limited = { left: 0, status: 403, retryAfter: 1 };

  return {
    onWrite(hook) {
      hooks.add(hook);
      return () => hooks.delete(hook);
    },
    arm(k, action) {
      armed = { at: written + k, action };
    },
    disarm() {
      armed = null;
    },
    async held(timeoutMs) {
      if (holding) return holding;
      const signal = AbortSignal.timeout(timeoutMs);
      await once(events, 'held', { signal }).catch(() => {});
      return holding;
    },
    release(how, entry) {
      if (entry && entry !== holding) return;
      holding = null;
      events.emit('release', how);
    },
    failNext(pattern, status, options = {}) {
      failures.push({ ...options, pattern, status, left: options.times ?? 1 });
    },
    limitWrites(n, { status = 403, retryAfter = 1 } = {}) {
      limited = { left: n, status, retryAfter };
    },
    slow(ms) {
      slowMs = ms;
    },
    async pause() {
      if (slowMs > 0) await delay(slowMs);
    },
    before(route, write) {
      if (write && limited.left > 0) {
        limited.left--;
        const message =
          'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
        throw withHeaders(new Refusal(limited.status, message), {
          'retry-after': String(limited.retryAfter),
        });
      }
      const failure = failures.find(
        (f) =>
          f.left > 0 && (typeof f.pattern === 'string' ? route.includes(f.pattern) : f.pattern.test(route)),
      );
      if (!failure) return null;
      failure.left--;
      const refusal = withHeaders(
        new Refusal(failure.status, failure.message ?? 'Server Error'),
        failure.headers ?? {},
      );
      if (failure.applied) return refusal;
      throw refusal;
    },
    async after(entry) {
      const k = ++written;
      for (const hook of [...hooks]) if ((await hook(entry, k)) === 'drop') return 'drop';
      if (armed?.at !== k) return 'answer';
      const { action } = armed;
      armed = null;
      if (action === 'drop') return 'drop';
      holding = entry;
      const released = once(events, 'release');
      events.emit('held');
      return (await released)[0] as 'answer' | 'drop';
    },
  };
}

function withHeaders(refusal: Refusal, headers: Readonly<Record<string, string>>): Refusal {
  return Object.assign(refusal, { reply: { ...refusal.reply, headers } });
}
