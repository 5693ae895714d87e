import { describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { planBatch } from '../../../src/planning/plan-batch.ts';
import { fixFacts, plannerOf, proposedRow } from './fix-facts.ts';

const issues = [3, 4, 9].map((number) => ({ number, title: `title ${number}`, body: `body ${number}` }));
const config = repositoryConfigSchema.parse({});
const perIssue = { batch: { ...config.batch, pull_requests: 'per_issue' as const } };

function outline({ rows }: Awaited<ReturnType<typeof planBatch>>) {
  return rows.map((row) => [row.title, row.issue, row.waitsFor, row.dependsOn]);
}

describe('the plan of a batch', () => {
  const answers = () =>
    plannerOf(
      {
        contract: 'three',
        rows: [proposedRow('x', ['a/**']), proposedRow('y', ['new.ts'], { depends_on: [0] })],
      },
      { contract: '', rows: [proposedRow('x', ['b/**'])] },
      { contract: 'nine', rows: [proposedRow('x', ['a/x.ts', 'b/y.ts'])] },
    );

  it('has rows for each issue, those that collide with another issue in order, and one that merges', async () => {
    const { propose, asked } = answers();
    const made = await planBatch({ ...fixFacts({ propose, instruction: '' }), issues });
    expect(outline(made)).toEqual([
      ['#3 x', 3, 'success', []],
      ['#3 y', 3, 'success', [0]],
      ['#4 x', 4, 'success', []],
      ['#9 x', 9, 'end', [0, 2]],
      ['merge and verify', null, 'end', [0, 1, 2, 3]],
    ]);
    expect(made.rows[3]?.matrix.background).toContain('Title: title 9\n\nbody 9');
    expect(made.rows[3]?.matrix.background).not.toContain('body 3');
    expect(made.contract).toContain('### For issue #3\n\nthree\n\n### For issue #9\n\nnine');
    expect(asked.map(({ request }) => [request.instruction, request.subject, request.maxRows])).toEqual(
      issues.map(({ number }) => [`Resolve issue #${number}.`, `title ${number}\n\nbody ${number}`, 13]),
    );
  });

  it('has a merging row for each issue where each gets its pull request', async () => {
    const { propose } = answers();
    const made = await planBatch({ ...fixFacts({ propose }, perIssue), issues });
    expect(outline(made).slice(4)).toEqual([
      ['merge and verify #3', 3, 'end', [0, 1]],
      ['merge and verify #4', 4, 'end', [2]],
      ['merge and verify #9', 9, 'end', [3]],
    ]);
  });

  it('has one row for an issue that no model plans, one after the other', async () => {
    const made = await planBatch({ ...fixFacts(), issues });
    expect(outline(made)).toEqual([
      ['#3 the whole issue', 3, 'success', []],
      ['#4 the whole issue', 4, 'end', [0]],
      ['#9 the whole issue', 9, 'end', [1]],
      ['merge and verify', null, 'end', [0, 1, 2]],
    ]);
  });

  it('asks for the plans of a few issues at once', async () => {
    let [open, most] = [0, 0];
    let wave = Promise.withResolvers<void>();
    const propose = async () => {
      open += 1;
      most = Math.max(most, open);
      const { promise, resolve } = wave;
      if (open === 4) {
        wave = Promise.withResolvers();
        resolve();
      }
      await promise;
      open -= 1;
      return { contract: '', rows: [proposedRow('x', ['a/**'])] };
    };
    const many = Array.from({ length: 12 }, (_, index) => ({ number: index + 1, title: 't', body: '' }));
    await planBatch({ ...fixFacts({ propose }), issues: many });
    expect(most).toBe(4);
  });
});
