import type { Failure } from '../../domain/failure.ts';

/** Setups that failed, by the key of what they would have prepared. */
export interface SetupFailures {
  /** How it failed within the last minutes; null: it did not. */
  fresh(key: string): Promise<Failure | null>;
  put(key: string, repositoryId: number, failure: Failure): Promise<void>;
}
