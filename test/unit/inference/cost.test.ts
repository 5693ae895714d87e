import { describe, expect, it } from 'vitest';
import { estimatePromptTokens } from '../../../src/inference/estimate-tokens.ts';
import { costMicros } from '../../../src/inference/price.ts';

describe('costMicros', () => {
  it('prices cached prompt tokens apart and rounds to a micro-dollar', () => {
    const usage = { promptTokens: 1000, cachedTokens: 400, completionTokens: 10, estimated: false };
    expect(costMicros({ input: 2.5, cached: 1.25, output: 10 }, usage)).toBe(600 * 2.5 + 400 * 1.25 + 100);
    expect(costMicros({ input: 0.0004, cached: 0, output: 0 }, usage)).toBe(0);
  });
});

describe('estimatePromptTokens', () => {
  it('counts messages, tool calls and tools, on the safe side', () => {
    const content = 'const answer = compute(input);\n'.repeat(100);
    const text = estimatePromptTokens({ messages: [{ role: 'user', content }], tools: [] });
    expect(text).toBe(Math.ceil(content.length / 3) + 8);
    const withCall = estimatePromptTokens({
      messages: [
        { role: 'user', content },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'call_1', name: 'search', arguments: '{"a":1}' }],
        },
      ],
      tools: [{ name: 'search', description: 'Searches.', parameters: { type: 'object' } }],
    });
    expect(withCall).toBeGreaterThan(text + 8);
  });
});
