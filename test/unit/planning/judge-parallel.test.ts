import { describe, expect, it } from 'vitest';
import { whySerial } from '../../../src/planning/judge-parallel.ts';
import { planBatch } from '../../../src/planning/plan-batch.ts';
import { planFix } from '../../../src/planning/plan-fix.ts';
import { fixFacts, plannerOf, proposedRow } from './fix-facts.ts';

const rows = (...dependsOn: number[][]) => dependsOn.map((list) => ({ dependsOn: list }));
const judge = (list: ReturnType<typeof rows>, checks: 'found' | 'none_found' | 'declined' = 'found') =>
  whySerial(list, { given: '', checks });

describe('why a plan runs as one subtask', () => {
  it('is nothing for rows that do not wait for each other', () => {
    expect(judge(rows([], [], []))).toBe('');
    expect(judge(rows([], [], [0, 1]))).toBe('');
    expect(judge(rows([], [0], [0], [0], [1, 2, 3]))).toBe('');
    expect(judge(rows([], []), 'declined')).toBe('');
  });

  it('is not the order of two rows', () => {
    expect(judge(rows([], [0]))).toBe('');
  });

  it('is a chain of most rows', () => {
    const why = 'its rows depend on one another: 3 of 4 come one after the other';
    expect(judge(rows([], [0], [1], []))).toBe(why);
    // Rows may depend on later ones.
    expect(judge(rows([1], [2], [], []))).toBe(why);
  });

  it('is not that layers of rows wait for each other', () => {
    const layers = Array.from({ length: 200 }, (_, row) =>
      row < 20 ? [] : Array.from({ length: 20 }, (_, other) => Math.floor(row / 20) * 20 - 20 + other),
    );
    expect(judge(rows(...layers))).toBe('');
    expect(judge(rows([], [0], [0], [1, 2], [1, 2], [3, 4]))).toBe('');
  });

  it('is that nothing could verify the rows together, unless the repository wants it so', () => {
    expect(judge(rows([], []), 'none_found')).toMatch(/^the repository has no checks/);
    expect(judge(rows([]), 'none_found')).toBe('');
  });

  it("is the planner's own reason, on one line, whatever the rows", () => {
    const given = '  the format is\nnot settled ';
    expect(whySerial(rows([], []), { given, checks: 'found' })).toBe('the format is not settled');
    expect(whySerial(rows([]), { given: 'x'.repeat(900), checks: 'found' })).toHaveLength(500);
  });
});

const chain = [
  proposedRow('last', ['c.ts'], { depends_on: [1], inputs: ['a/x.ts'] }),
  proposedRow('middle', ['b/**'], { depends_on: [2], inputs: ['a/x.ts'] }),
  proposedRow('first', ['a/**', 'b/**']),
];

describe('a plan that is judged unfit for parallel work', () => {
  it('is one row that does all of it in order, and says why', async () => {
    const { propose } = plannerOf({ contract: 'agreed', rows: chain });
    const plan = await planFix(fixFacts({ propose }));
    expect(plan.serialReason).toBe('its rows depend on one another: 3 of 3 come one after the other');
    expect(plan.contract).toContain('agreed');
    expect(plan.rows.map(({ title, kind, dependsOn }) => [title, kind, dependsOn])).toEqual([
      ['first and 2 more', 'agent', []],
      ['merge and verify', 'integrate', [0]],
    ]);
    expect(plan.rows[0]?.matrix).toMatchObject({
      goal: 'Do all of this, in this order:\n\n1. first: do first\n\n2. middle: do middle\n\n3. last: do last',
      writes: ['a/**', 'b/**', 'c.ts'],
      inputs: ['a/x.ts'],
      verification: '1. first: tests\n\n2. middle: tests\n\n3. last: tests',
    });
  });

  it('keeps its one row where the planner says itself why it is one', async () => {
    const one = { contract: '', rows: [proposedRow('all', ['a/**'])], serial_reason: 'it is one thing' };
    const plan = await planFix(fixFacts({ propose: plannerOf(one).propose }));
    expect(plan.serialReason).toBe('it is one thing');
    expect(plan.rows.map(({ title }) => title)).toEqual(['all', 'merge and verify']);
  });

  it('is of a model: packages without one are still worked on side by side', async () => {
    const files = [
      ...Array.from({ length: 40 }, (_, index) => `a/${index}.ts`),
      'a/package.json',
      'b/package.json',
    ];
    const plan = await planFix(fixFacts({ files, checks: 'none_found' }));
    expect(plan.serialReason).toBeUndefined();
    expect(plan.rows).toHaveLength(3);
  });

  it('is of one issue in a batch; the others are as they are', async () => {
    const { propose } = plannerOf(
      { contract: '', rows: chain },
      { contract: '', rows: [proposedRow('x', ['d.ts']), proposedRow('y', ['e.ts'])] },
    );
    const issues = [3, 4].map((number) => ({ number, title: 't', body: 'b' }));
    const plan = await planBatch({ ...fixFacts({ propose }), issues, log: { warn: () => {} } });
    expect(plan.rows.map(({ title }) => title)).toEqual([
      '#3 first and 2 more',
      '#4 x',
      '#4 y',
      'merge and verify',
    ]);
    expect(plan.serialReason).toBe('#3: its rows depend on one another: 3 of 3 come one after the other');
  });
});
