import { describe, expect, it } from 'vitest';
import { operatorConfigSchema } from '../../../src/config/operator-config.ts';
import { createPlanBounds } from '../../../src/publishing/plan-bounds.ts';

const operator = operatorConfigSchema.parse({
  channels: [{ name: 'main', base_url: 'https://m.test/v1', model: 'm', price: { input: 2, output: 8 } }],
  agents: [
    { name: 'fixer', kind: 'model', channel: 'main' },
    { name: 'lint', kind: 'command', command: ['lint'], format: 'lines' },
  ],
  limits: { task_parallel: 6, task_tokens: 5000 },
});

describe('what bounds a plan', () => {
  it('is the limit of the operator and the quota of the model', async () => {
    const asked: unknown[] = [];
    const bounds = createPlanBounds(operator, async (agents) => {
      asked.push(agents);
      return 3;
    });
    expect(await bounds.boundsOf(['fixer'])).toEqual([
      { name: '`limits.task_parallel`', most: 6 },
      { name: "what the model's `tokens_per_minute` feeds", most: 3 },
    ]);
    expect(asked).toEqual([['fixer']]);
    expect(bounds.taskTokens).toBe(5000);
  });

  it('is the limit alone without a quota; only models have a price', async () => {
    const bounds = createPlanBounds(operator, async () => null);
    expect(await bounds.boundsOf(['fixer'])).toEqual([{ name: '`limits.task_parallel`', most: 6 }]);
    expect([bounds.priceOf('fixer'), bounds.priceOf('lint'), bounds.priceOf('gone')]).toEqual([
      { input: 2, cached: 0, output: 8 },
      null,
      null,
    ]);
  });
});
