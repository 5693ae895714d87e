/**
 * Agents that a model's quota feeds at once: its tokens per minute over what an agent uses on the mean. At least one,
 * or nothing would ever run.
 */
export function quotaParallel(tokensPerMinute: number, meanTokensPerAgent: number): number {
  return Math.max(1, Math.floor(tokensPerMinute / Math.max(1, meanTokensPerAgent)));
}
