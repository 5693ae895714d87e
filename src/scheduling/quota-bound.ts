import type { AgentConfig } from '../config/agent-config.ts';
import type { ChannelConfig } from '../config/operator-config.ts';
import { quotaParallel } from '../domain/quota.ts';
import type { Store, Task } from '../store/port.ts';

/** How many agents the quota of their models feeds at once. */
export interface QuotaBound {
  /**
   * Attempts of these agents at once, by the tightest of their channels; null: no channel of theirs has a quota, or
   * nothing ran on it yet.
   */
  ofAgents(agents: readonly string[]): Promise<number | null>;
  /** The same for the agents of a task, by what is known now. */
  ofTasks(): Promise<(task: Pick<Task, 'kind' | 'config'>) => number | null>;
}

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
  /** By channel, of those that have a quota and a mean. */
  const load = async (wanted: (channel: string) => boolean): Promise<Map<string, number>> => {
    const bounds = new Map<string, number>();
    for (const { name, tokens_per_minute: quota } of channels) {
      if (quota === null || !wanted(name)) continue;
      const mean = await meanOf(name);
      if (mean !== null) bounds.set(name, quotaParallel(quota, mean));
    }
    return bounds;
  };
  const channelsOf = (names: readonly string[]) =>
    agents.flatMap((agent) => (agent.kind === 'model' && names.includes(agent.name) ? [agent.channel] : []));
  const tightest = (bounds: ReadonlyMap<string, number>, names: readonly string[]): number | null => {
    const known = channelsOf(names).flatMap((channel) => bounds.get(channel) ?? []);
    return known.length === 0 ? null : Math.min(...known);
  };
  return {
    ofAgents: async (names) => {
      const used = channelsOf(names);
      return tightest(await load((channel) => used.includes(channel)), names);
    },
    ofTasks: async () => {
      const bounds = await load(() => true);
      return (task) => (bounds.size === 0 ? null : tightest(bounds, agentsOf(task, agents)));
    },
  };
}

/** Names of the agents that work on a task of that kind. */
function agentsOf({ kind, config }: Pick<Task, 'kind' | 'config'>, agents: readonly AgentConfig[]): string[] {
  if (kind === 'review') return config?.review.agents ?? agents.map(({ name }) => name);
  const first = agents.find((agent) => agent.kind === 'model')?.name;
  const wanted = kind === 'triage' ? first : (config?.fix.agents?.[0] ?? first);
  return wanted === undefined ? [] : [wanted];
}
