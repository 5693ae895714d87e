import type { VerificationReport } from '../../domain/verification.ts';

/** Reports of verified trees, by a key of tree, commands and image. */
export interface Verifications {
  get(key: string): Promise<VerificationReport | null>;
  /** Keeps the first report of a key. */
  put(key: string, report: VerificationReport, repositoryId: number): Promise<void>;
  /** Most memory that the newest verifications of that repository needed, MiB each; those of whom it is not known apart. */
  peaks(repositoryId: number): Promise<number[]>;
}
