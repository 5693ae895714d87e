import type { Claim } from './attempts.ts';

export interface Workers {
  /**
   * A worker's sign of life. Answers which of its claims are gone (cancelled, lost, taken), and whether an attempt has
   * been queued for `waitingMs` and longer.
   */
  look(
    worker: string,
    at: { readonly capacity: number; readonly claims: readonly Claim[]; readonly waitingMs: number },
  ): Promise<{ gone: string[]; waiting: boolean }>;
  /** Whether that worker gave a sign of life within the lease, milliseconds. */
  isAlive(worker: string, leaseMs: number): Promise<boolean>;
  /** The worker stops as told. */
  leave(worker: string): Promise<void>;
  /** Drops the workers without a sign of life for that long. */
  forget(silentMs: number): Promise<void>;
}
