import type { IndexedResult } from '../port.ts';

/** Verified patches by what they were made from; see domain/result-key.ts. */
export interface ResultIndex {
  get(key: string): Promise<IndexedResult | null>;
  /** Those of a family that were there before, newest first; at most 50. */
  family(family: string, before: Date): Promise<IndexedResult[]>;
  /** Takes the place of what the key had. */
  put(result: Omit<IndexedResult, 'createdAt'>): Promise<void>;
}
