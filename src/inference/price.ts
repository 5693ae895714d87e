import type { ChannelConfig } from '../config/operator-config.ts';
import type { TokenUsage } from './port.ts';

/**
 * Cost of a call in millionths of a US dollar. Prices are dollars for a million tokens, which is the same number
 * of micro-dollars for one; cached tokens are a part of the prompt tokens, at their own price.
 */
export function costMicros(price: ChannelConfig['price'], usage: TokenUsage): number {
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  return Math.round(
    (usage.promptTokens - cached) * price.input +
      cached * price.cached +
      usage.completionTokens * price.output,
  );
}
