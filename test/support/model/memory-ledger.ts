import type { BudgetLedger, TokenUsage } from '../../../src/inference/port.ts';

/** What became of each reservation, for tests that look at nothing but the gateway. */
export interface MemoryLedger extends BudgetLedger {
  readonly reservations: {
    readonly tokens: number;
    outcome: 'reserved' | 'released' | { readonly usage: TokenUsage; readonly costMicros: number };
  }[];
}

export function createMemoryLedger(budget = Number.POSITIVE_INFINITY): MemoryLedger {
  const reservations: MemoryLedger['reservations'] = [];
  const charged = () =>
    reservations.reduce((sum, { tokens, outcome }) => {
      if (outcome === 'reserved') return sum + tokens;
      if (outcome === 'released') return sum;
      return sum + outcome.usage.promptTokens + outcome.usage.completionTokens;
    }, 0);
  const at = (id: string) => {
    const reservation = reservations[Number(id)];
    if (reservation === undefined) throw new Error(`no reservation ${id}`);
    return reservation;
  };
  return {
    reservations,
    async reserve(_context, _channel, _model, tokens) {
      if (charged() + tokens > budget) return null;
      return String(reservations.push({ tokens, outcome: 'reserved' }) - 1);
    },
    async settle(id, usage, costMicros) {
      at(id).outcome = { usage, costMicros };
    },
    async release(id) {
      at(id).outcome = 'released';
    },
  };
}
