import type { PlannerAgent, PlanProposal } from '../../../src/agents/port.ts';
import { limitsSchema } from '../../../src/config/operator-config.ts';
import { type RepositoryConfig, repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { FixFacts } from '../../../src/planning/plan-fix.ts';

type Row = PlanProposal['rows'][number];

export function proposedRow(title: string, writes: string[], over: Partial<Row> = {}): Row {
  return { title, goal: `do ${title}`, writes, inputs: [], depends_on: [], verification: 'tests', ...over };
}

type Answer = PlanProposal | Error;

/** A planner that gives these answers, one after the other, and keeps what it was asked. */
export function plannerOf(...answers: Answer[]) {
  const asked: { request: Parameters<PlannerAgent['propose']>[0]; faults: readonly string[] }[] = [];
  const propose: PlannerAgent['propose'] = async (request, _previous, faults) => {
    const answer = answers[asked.length];
    asked.push({ request, faults });
    if (answer === undefined) throw new Error('asked too often');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { propose, asked };
}

export const limits = limitsSchema.parse({});

export function fixFacts(over: Partial<FixFacts> = {}, config: Partial<RepositoryConfig> = {}): FixFacts {
  return {
    taskId: 'task-1',
    instruction: 'tidy up',
    subject: { kind: 'pull_request', number: 5, title: 'A title', body: 'A body' },
    files: ['README.md', 'a/x.ts', 'b/y.ts'],
    config: { ...repositoryConfigSchema.parse({}), ...config },
    limits,
    agent: 'fixer',
    protection: () => null,
    checks: 'found',
    propose: null,
    signal: new AbortController().signal,
    ...over,
  };
}
