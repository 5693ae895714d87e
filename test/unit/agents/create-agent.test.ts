import { describe, expect, it } from 'vitest';
import { createFixer, createPlannerAgent, createTriager } from '../../../src/agents/create-agent.ts';
import { agentSchema } from '../../../src/config/agent-config.ts';

const deps = {
  gateway: { complete: () => Promise.reject(new Error('not asked')) },
  repositoryInstructions: '',
  protection: () => null,
};

describe('a command agent', () => {
  const linter = agentSchema.parse({ name: 'lint', kind: 'command', command: ['lint'], format: 'lines' });

  it.each([
    ['fix', () => createFixer(linter, deps)],
    ['triage', () => createTriager(linter, deps)],
    ['plan', () => createPlannerAgent(linter, deps)],
  ])('cannot %s', (work, create) => {
    expect(create).toThrow(expect.objectContaining({ code: 'config_invalid' }));
    expect(create).toThrow(`the agent \`lint\` is a command and cannot ${work}`);
  });
});
