import type { OperatorConfig } from '../config/operator-config.ts';
import type { TokenPrice } from '../domain/estimate.ts';

/** What the operator's configuration says of running a plan. */
export interface PlanBounds {
  /** Of the model that the agent speaks to; null: it speaks to none. */
  priceOf(agent: string): TokenPrice | null;
  /** What bounds the subtasks of one task that run at once, worked on by these agents; names are Markdown of ours. */
  boundsOf(agents: readonly string[]): Promise<{ readonly name: string; readonly most: number }[]>;
  /** Tokens one task may spend. */
  readonly taskTokens: number;
}

export function createPlanBounds(
  operator: Pick<OperatorConfig, 'agents' | 'channels' | 'limits'>,
  /** Agents that the quota of their models feeds at once; null: no bound. */
  quotaBound: (agents: readonly string[]) => Promise<number | null>,
): PlanBounds {
  const { agents, channels, limits } = operator;
  return {
    priceOf: (name) => {
      const agent = agents.find((one) => one.name === name);
      const channel = agent?.kind === 'model' ? agent.channel : null;
      return channels.find((one) => one.name === channel)?.price ?? null;
    },
    boundsOf: async (names) => {
      const quota = await quotaBound(names);
      return [
        { name: '`limits.task_parallel`', most: limits.task_parallel },
        ...(quota === null ? [] : [{ name: "what the model's `tokens_per_minute` feeds", most: quota }]),
      ];
    },
    taskTokens: limits.task_tokens,
  };
}
