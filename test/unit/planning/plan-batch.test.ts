import { describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { planBatch } from '../../../src/planning/plan-batch.ts';
import { fixFacts, plannerOf, proposedRow } from './fix-facts.ts';

const issues = [3, 4, 9].map((number) => ({ number, title: `title ${number}`, body: `body ${number}` }));
const config = repositoryConfigSchema.parse({});
const perIssue = { batch: { ...config.batch, pull_requests: 'per_issue' as const } };

const told: unknown[] = [];
const log = { warn: (...line: unknown[]) => void told.push(line) };

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
    const made = await planBatch({ log, ...fixFacts({ propose, instruction: '' }), issues });
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
    const made = await planBatch({ log, ...fixFacts({ propose }, perIssue), issues });
    expect(outline(made).slice(4)).toEqual([
      ['merge and verify #3', 3, 'end', [0, 1]],
      ['merge and verify #4', 4, 'end', [2]],
      ['merge and verify #9', 9, 'end', [3]],
    ]);
  });

  it('has one row for an issue that no model plans, one after the other', async () => {
    const made = await planBatch({ log, ...fixFacts(), issues });
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
    await planBatch({ log, ...fixFacts({ propose }), issues: many });
    expect(most).toBe(4);
  });
});

describe('a batch whose planner fails', () => {
  const plan = { contract: '', rows: [proposedRow('x', ['a/**'])] };
  /** A batch whose issue 4 fails so, and whose others are answered by `others`. */
  function failingAt(
    fail: () => Promise<typeof plan>,
    others: (signal: AbortSignal) => Promise<typeof plan>,
  ) {
    const facts = fixFacts({
      propose: (request) => (request.subject.startsWith('title 4') ? fail() : others(request.signal)),
    });
    return planBatch({ log, ...facts, issues });
  }

  it.each([
    new PatchfleetError('model_refused', 'its content filter stopped the answer'),
    new PatchfleetError('model_timeout', 'no answer'),
    new TypeError('a bug'),
  ])('for one issue gives that one a single row, and says so: $message', async (failure) => {
    told.length = 0;
    const made = await failingAt(
      () => Promise.reject(failure),
      async () => plan,
    );
    expect(made.rows.map((row) => row.title)).toEqual([
      '#3 x',
      '#4 the whole issue',
      '#9 x',
      'merge and verify',
    ]);
    expect(told).toEqual([
      [{ err: failure, task: 'task-1', issue: 4 }, 'an issue is planned without the model'],
    ]);
  });

  it.each(['budget_exhausted', 'model_unavailable', 'config_invalid'] as const)(
    'for all, by %s, fails, and no call of the others goes on',
    async (code) => {
      const failure = new PatchfleetError(code, 'no');
      const both = Promise.withResolvers<void>();
      let [begun, aborted] = [0, 0];
      const untilAborted = (signal: AbortSignal) =>
        new Promise<typeof plan>((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted += 1;
            reject(signal.reason);
          });
          begun += 1;
          if (begun === 2) both.resolve();
        });
      const failAfterOthersBegan = () => both.promise.then(() => Promise.reject(failure));
      await expect(failingAt(failAfterOthersBegan, untilAborted)).rejects.toBe(failure);
      expect(aborted).toBe(2);
    },
  );

  it('for every issue fails', async () => {
    const failure = new PatchfleetError('model_refused', 'the key is wrong');
    const fail = () => Promise.reject(failure);
    await expect(failingAt(fail, fail)).rejects.toBe(failure);
  });

  it('because the process shuts down fails', async () => {
    const shutdown = new AbortController();
    const propose = async () => {
      shutdown.abort(new Error('shutting down'));
      throw new Error('stopped');
    };
    const facts = fixFacts({ propose, signal: shutdown.signal });
    await expect(planBatch({ log, ...facts, issues })).rejects.toThrow('stopped');
  });
});
