/** What a plan will cost, from what is known of rows like its own. */

/** What rows that one agent worked on used lately, all together. */
export interface RowUse {
  readonly agent: string;
  readonly rows: number;
  readonly tokens: number;
  readonly costMicros: number;
}

/** US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
}

export interface Estimate {
  readonly tokens: number;
  /** Millionths of a US dollar; 0 where no price is known. */
  readonly costMicros: number;
  /** Rows whose part comes from what was used. The others count with all they may spend, at the dearer price. */
  readonly fromUse: number;
  /** Rows of before that those come from. */
  readonly seen: number;
}

export function estimateUse(
  rows: readonly { readonly agent: string; readonly maxTokens: number }[],
  used: readonly RowUse[],
  priceOf: (agent: string) => TokenPrice | null,
): Estimate {
  const known = new Map(used.filter((use) => use.rows > 0).map((use) => [use.agent, use]));
  let [tokens, costMicros, fromUse] = [0, 0, 0];
  for (const { agent, maxTokens } of rows) {
    const use = known.get(agent);
    if (use !== undefined) {
      tokens += use.tokens / use.rows;
      costMicros += use.costMicros / use.rows;
      fromUse += 1;
    } else {
      const price = priceOf(agent);
      tokens += maxTokens;
      costMicros += price === null ? 0 : maxTokens * Math.max(price.input, price.output);
    }
  }
  const agents = new Set(rows.map(({ agent }) => agent));
  const seen = [...known.values()].filter((use) => agents.has(use.agent));
  return {
    tokens: Math.round(tokens),
    costMicros: Math.round(costMicros),
    fromUse,
    seen: seen.reduce((sum, use) => sum + use.rows, 0),
  };
}
