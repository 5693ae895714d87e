import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../../src/config/agent-config.ts';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { fallbacksOf, selectFixAgent, selectModelAgent } from '../../../src/config/select-agents.ts';

const lint = agentSchema.parse({ name: 'lint', kind: 'command', command: ['lint'], format: 'lines' });
const one = agentSchema.parse({ name: 'one', kind: 'model' });
const two = agentSchema.parse({ name: 'two', kind: 'model' });
const config = (agents: string[] | null) => repositoryConfigSchema.parse({ fix: { agents } });

describe('the agent that writes', () => {
  it.each([
    ['the first model agent', null, 'one'],
    ['the first model agent where the list is empty', [], 'one'],
    ['the first one named', ['two', 'one'], 'two'],
  ])('is %s', (_name, agents, expected) => {
    expect(selectFixAgent([lint, one, two], config(agents)).name).toBe(expected);
  });

  it.each([
    ['is not there', [lint, one], ['two'], /fix.agents: there is no model agent `two`; valid: `one`$/],
    ['is a command', [lint, one], ['lint'], /fix.agents: there is no model agent `lint`; valid: `one`$/],
    ['is needed and no model is configured', [lint], null, /no model agent is configured/],
  ])('fails where it %s', (_name, operator, agents, detail) => {
    expect(() => selectFixAgent(operator, config(agents))).toThrow(
      expect.objectContaining({ code: 'config_invalid', detail: expect.stringMatching(detail) }),
    );
  });
});

describe('the agent that plans and triages', () => {
  it('is the first model agent of the operator', () => {
    expect(selectModelAgent([lint, two, one])).toEqual(two);
  });
});

describe('the agents that take over', () => {
  const first = agentSchema.parse({ name: 'first', kind: 'model', fallbacks: ['two', 'lint', 'one'] });
  const agents = [first, lint, one, two];

  it('are those that the agent names, in that order', () => {
    expect(fallbacksOf(agents, config(null), 'first', false)).toEqual(['two', 'lint', 'one']);
    expect(fallbacksOf(agents, config(null), 'one', false)).toEqual([]);
  });

  it('are models alone where no command can do the work', () => {
    expect(fallbacksOf(agents, config(null), 'first', true)).toEqual(['two', 'one']);
  });

  it('are none for a row of the system itself', () => {
    expect(fallbacksOf(agents, config(null), 'patchfleet', true)).toEqual([]);
  });

  it('must be there', () => {
    expect(() => fallbacksOf([first], config(null), 'first', false)).toThrow(
      expect.objectContaining({ code: 'config_invalid', detail: 'the agent `two` is no longer configured' }),
    );
  });
});
