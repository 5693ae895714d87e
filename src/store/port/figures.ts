import type { RowUse } from '../../domain/estimate.ts';

/** What work used so far. */
export interface Figures {
  /** Tokens and cost of rows that changed files in that repository lately, by agent. */
  changeUse(repositoryId: number): Promise<RowUse[]>;
  /** Tokens that the latest attempts on a channel used on the mean; null: there was none. */
  meanTokens(channel: string): Promise<number | null>;
}
