import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../../src/config/agent-config.ts';
import { channelSchema } from '../../../src/config/operator-config.ts';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { createQuotaBound } from '../../../src/scheduling/quota-bound.ts';

const channel = (name: string, quota: number | null) =>
  channelSchema.parse({ name, base_url: 'https://m.test/v1', model: 'm', tokens_per_minute: quota });
const agents = [
  agentSchema.parse({ name: 'fixer', kind: 'model', channel: 'tight' }),
  agentSchema.parse({ name: 'other', kind: 'model', channel: 'wide' }),
  agentSchema.parse({ name: 'free', kind: 'model', channel: 'free' }),
  agentSchema.parse({ name: 'lint', kind: 'command', command: ['lint'], format: 'lines' }),
];
const channels = [channel('tight', 1000), channel('wide', 5000), channel('free', null)];

function setting(mean: (channel: string) => number | null) {
  const asked: string[] = [];
  let time = 0;
  const bound = createQuotaBound({
    channels,
    agents,
    now: () => time,
    store: {
      figures: {
        meanTokens: async (name) => {
          asked.push(name);
          const known = mean(name);
          if (known === -1) throw new Error('the database is gone');
          return known;
        },
      },
    },
  });
  return { bound, asked, pass: (ms: number) => (time += ms) };
}

describe('the bound that quotas give', () => {
  it('is that of the tightest channel the agents speak to', async () => {
    const { bound } = setting(() => 250);
    expect(await bound.ofAgents(['fixer', 'other', 'free', 'lint'])).toBe(4);
    expect(await bound.ofAgents(['other'])).toBe(20);
  });

  it('is none without a quota, a model, or anything used yet', async () => {
    const { bound, asked } = setting(() => null);
    expect(await bound.ofAgents(['free', 'lint', 'gone'])).toBeNull();
    expect(asked).toEqual([]);
    expect(await bound.ofAgents(['fixer'])).toBeNull();
  });

  it('reads what was used at most once in ten seconds, however many ask', async () => {
    const { bound, asked, pass } = setting(() => 10);
    await Promise.all([1, 2, 3].map(() => bound.ofAgents(['fixer'])));
    pass(9_999);
    await bound.ofAgents(['fixer']);
    expect(asked).toEqual(['tight']);
    pass(1);
    await bound.ofAgents(['fixer']);
    expect(asked).toEqual(['tight', 'tight']);
  });

  it('of a task is that of the agents that work on its kind', async () => {
    const { bound } = setting(() => 250);
    const of = await bound.ofTasks();
    const config = repositoryConfigSchema.parse({
      review: { agents: ['other', 'lint'] },
      fix: { agents: ['other'] },
    });
    expect(of({ kind: 'review', config: null })).toBe(4);
    expect(of({ kind: 'review', config })).toBe(20);
    expect(of({ kind: 'fix', config })).toBe(20);
    expect(of({ kind: 'campaign', config: null })).toBe(4);
    expect(of({ kind: 'triage', config })).toBe(4);
  });

  it('asks again after a failure', async () => {
    let fails = true;
    const { bound } = setting(() => (fails ? -1 : 500));
    await expect(bound.ofAgents(['fixer'])).rejects.toThrow('gone');
    fails = false;
    expect(await bound.ofAgents(['fixer'])).toBe(2);
  });
});
