import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTriager } from '../../../src/agents/create-agent.ts';
import type { TriageAssignment } from '../../../src/agents/port.ts';
import { limitsSchema } from '../../../src/config/operator-config.ts';
import { planTriage } from '../../../src/planning/plan-triage.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';
import { createModelDouble, type ModelDouble } from '../../support/model/create-model-double.ts';
import { sampleFix } from '../../support/model/sample-fix.ts';
import { coder, gatewayTo } from './model-setting.ts';

let double: ModelDouble;
let sandbox: Sandbox;
beforeAll(async () => {
  double = await createModelDouble();
  sandbox = await createLocalSandbox({ 'README.md': 'A tea shop.\n' });
});
beforeEach(() => {
  double.configure({});
  double.clearJournal();
});
afterAll(() => Promise.all([double.close(), sandbox.close()]));

function assignmentFor(title: string, body: string): TriageAssignment & { log: string[] } {
  const subject = { kind: 'issue', number: 12, title, body } as const;
  const [row] = planTriage({ subject, agent: 'coder', limits: limitsSchema.parse({}) }).rows;
  if (row === undefined) throw new Error('no row');
  const { checks: _, ...assignment } = sampleFix(row.matrix, sandbox);
  return {
    ...assignment,
    log: assignment.log as string[],
    labels: [
      { name: 'bug', description: 'Something is wrong' },
      { name: 'docs', description: '' },
    ],
    others: [{ number: 7, title: 'The total is wrong', excerpt: 'By a cent.' }],
  };
}
const triager = () => createTriager(coder, { gateway: gatewayTo(double), repositoryInstructions: '' });

describe('the triage agent, against a strict API', () => {
  it('chooses among the labels and issues it is given', async () => {
    const body = 'There is a bug: the sum of two amounts is a cent too high.';
    expect(await triager().triage(assignmentFor('The total is WRONG', body))).toEqual({
      triage: {
        labels: ['bug'],
        duplicates: [7],
        question: null,
        summary: 'It is about: The total is WRONG.',
      },
      turns: 2,
    });
    expect(double.journal().map(({ refusal, attempt }) => [refusal, attempt])).toEqual([
      [null, 'attempt-1'],
      [null, 'attempt-1'],
    ]);
  });

  it('asks where the issue says next to nothing', async () => {
    const { triage } = await triager().triage(assignmentFor('Broken', ''));
    expect(triage.question).toMatch(/what did you expect/);
  });

  it('is told what is wrong with its report, and given up when it does not mend it', async () => {
    double.configure({ triages: [{ labels: ['urgent'], duplicates: [99] }] });
    const assignment = assignmentFor('x', 'y');
    const limits = { ...assignment.row.limits, turns: 3 };
    const failure = triager().triage({ ...assignment, row: { ...assignment.row, limits } });
    await expect(failure).rejects.toMatchObject({ code: 'turns_exhausted' });
    expect(assignment.log.join('\n')).toContain(
      'there are no labels \\"urgent\\"; there are: \\"bug\\", \\"docs\\"',
    );
  });
});
