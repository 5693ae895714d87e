import { describe, expect, it } from 'vitest';
import { operatorConfigSchema } from '../../../src/config/operator-config.ts';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { createPlanJob, type PlanJobDependencies } from '../../../src/planning/plan-job.ts';

const { limits } = operatorConfigSchema.parse({});
const never = new AbortController().signal;

/** A task whose planning begins for the n-th time and fails by `error`. */
function planning(begun: number, error: Error) {
  const settled: unknown[] = [];
  const ahead: string[] = [];
  const job = createPlanJob({
    store: {
      tasks: {
        releaseDue: async () => [],
        beginPlanning: async () => begun,
        get: async () => ({ id: 'task', kind: 'fix', config: repositoryConfigSchema.parse({}), issues: [] }),
        settle: async (_id: string, outcome: string, failure: unknown) => {
          settled.push([outcome, failure]);
          return true;
        },
      },
    },
    queue: { enqueue: async () => {}, enqueueRun: async () => {} },
    changePlanner: { plan: () => Promise.reject(error) },
    agents: [{ name: 'linter', kind: 'command' }],
    limits,
    startAhead: {
      whilePlanning: () => {
        ahead.push('planning');
        return () => ahead.push('planned');
      },
      changed: () => ahead.push('changed'),
    },
    log: { info: () => {}, warn: () => {} },
  } as unknown as PlanJobDependencies);
  return { settled, ahead, plan: () => job('task', never) };
}

describe('planning that fails', () => {
  const transient = new PatchfleetError('github_unavailable', 'down');

  it('in passing is tried again', async () => {
    const { plan, settled, ahead } = planning(3, transient);
    await expect(plan()).rejects.toBe(transient);
    expect({ settled, ahead }).toEqual({ settled: [], ahead: ['planning', 'planned'] });
  });

  it.each([
    ['for good', 1, new PatchfleetError('plan_invalid', 'no'), 'plan_invalid', 'no'],
    ['in passing, but too often', 4, transient, 'github_unavailable', 'down'],
    [
      'by the death of every worker',
      13,
      transient,
      'plan_invalid',
      'planning began 12 times and never came to an end',
    ],
  ])('%s ends the task', async (_, begun, error, code, detail) => {
    const { plan, settled, ahead } = planning(begun, error);
    await plan();
    expect(settled).toEqual([['failed', { code, detail }]]);
    // What was started ahead is not left waiting.
    expect(ahead.at(-1)).toBe('changed');
  });
});
