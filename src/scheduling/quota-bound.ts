import type { AgentConfig } from '../config/agent-config.ts';
import type { ChannelConfig } from '../config/operator-config.ts';
import { quotaParallel } from '../domain/quota.ts';
import type { Store } from '../store/port.ts';

/**
 * Attempts of these agents that the quota of their models feeds at once, the tightest channel's; null: no channel of
 * theirs has a quota, or nothing ran on it yet.
 */
export type QuotaBound = (agents: readonly string[]) => Promise<number | null>;

/** How long a mean counts before it is read again, milliseconds. */
const meanMs = 10_000;

export function createQuotaBound(deps: {
  readonly store: { readonly figures: Pick<Store['figures'], 'meanTokens'> };
  readonly channels: readonly ChannelConfig[];
  readonly agents: readonly AgentConfig[];
  /** Milliseconds since the epoch. Default the clock. */
  readonly now?: () => number;
}): QuotaBound {
  const { store, channels, agents, now = Date.now } = deps;
  const means = new Map<string, { readonly until: number; readonly mean: Promise<number | null> }>();
  const meanOf = (channel: string): Promise<number | null> => {
    const known = means.get(channel);
    if (known !== undefined && known.until > now()) return known.mean;
    const mean = store.figures.meanTokens(channel);
    means.set(channel, { until: now() + meanMs, mean });
    // What failed is not kept.
    mean.catch(() => means.delete(channel));
    return mean;
  };
  return async (names) => {
    const used = new Set(
      agents.flatMap((agent) =>
        agent.kind === 'model' && names.includes(agent.name) ? [agent.channel] : [],
      ),
    );
    const bounds = await Promise.all(
      channels
        .filter(({ name }) => used.has(name))
        .map(async ({ name, tokens_per_minute: quota }) => {
          const mean = quota === null ? null : await meanOf(name);
          return quota === null || mean === null ? null : quotaParallel(quota, mean);
        }),
    );
    const known = bounds.filter((bound) => bound !== null);
    return known.length === 0 ? null : Math.min(...known);
  };
}
