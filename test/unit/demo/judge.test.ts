import { describe, expect, it } from 'vitest';
import { judge } from '../../demo/judge.ts';
import { breaking, conflicting } from '../../demo/planned-fix.ts';
import type { DemoFacts } from '../../demo/run-demo.ts';

const review = {
  figures: {
    shards: 14,
    shardsWithFaults: 12,
    maxConcurrent: 8,
    wallMs: 9000,
    agentMsSum: 40_000,
    checkRuns: 1,
    reviews: 1,
    conclusion: 'failure',
    annotations: 0,
    inlineComments: 0,
    bodyFindings: 0,
  },
  planted: [],
} as unknown as DemoFacts['review'];

const fix: DemoFacts['fix'] = {
  figures: {
    subtasks: 12,
    maxConcurrent: 8,
    wallMs: 15_000,
    agentMsSum: 60_000,
    merged: 10,
    leftOut: [
      { subtask: breaking, code: 'verification', reason: 'with it, these fail' },
      { subtask: conflicting, code: 'conflict', reason: 'conflicts with main' },
    ],
    pullRequest: { number: 3, draft: true, branch: 'patchfleet/x', testsPass: true },
  },
  contract: '',
  title: '',
  body: '',
  sameTree: true,
  stages: [],
};

const batch: DemoFacts['batch'] = {
  figures: { issues: 3, done: 3, pullRequests: 1 },
  labels: [{ issue: 4, labels: ['patchfleet:done'] }],
  comments: [],
  wallMs: 8000,
  stages: [],
};

const kept: DemoFacts = { scripted: true, review, fix, batch, problems: [], sandboxesLeft: 0, exitCode: 0 };
const fixWith = (figures: Partial<DemoFacts['fix']['figures']>): DemoFacts => ({
  ...kept,
  fix: { ...fix, figures: { ...fix.figures, ...figures } },
});
const pull = fix.figures.pullRequest;

describe('the judgement of the demo', () => {
  it('is empty where everything held', () => {
    expect(judge(kept)).toEqual([]);
  });

  it.each([
    [
      'fewer than 12 subtasks',
      fixWith({ subtasks: 11, merged: 9 }),
      'the fix has 11 subtasks, fewer than 12',
    ],
    [
      'few at once',
      fixWith({ maxConcurrent: 3 }),
      'at most 3 sandboxes worked on the fix at once, fewer than 4',
    ],
    [
      'one more left out',
      fixWith({
        leftOut: [...fix.figures.leftOut, { subtask: 'x', code: 'conflict', reason: '' }],
      }),
      `left out are ${breaking}: verification, ${conflicting}: conflict, x: conflict, not ${breaking}: verification, ${conflicting}: conflict`,
    ],
    ['one lost', fixWith({ merged: 9 }), '9 of 12 subtasks are merged'],
    ['no draft', fixWith({ pullRequest: { ...pull, draft: false } }), 'pull request #3 is no draft'],
    ['red', fixWith({ pullRequest: { ...pull, testsPass: false } }), 'the tests fail on patchfleet/x'],
    [
      'another tree',
      { ...kept, fix: { ...fix, sameTree: false } },
      'the tree of patchfleet/x is not that of the verified candidate',
    ],
    [
      'an issue that is not done',
      { ...kept, batch: { ...batch, figures: { ...batch.figures, done: 2 } } },
      '2 of 3 issues are done, by their labels: #4 patchfleet:done',
    ],
    [
      'a second pull request',
      { ...kept, batch: { ...batch, figures: { ...batch.figures, pullRequests: 2 } } },
      'the batch has 2 pull requests, not 1',
    ],
    ['a sandbox', { ...kept, sandboxesLeft: 1 }, '1 sandboxes are left'],
  ] as const)('names what did not hold: %s', (_, facts, sentence) => {
    expect(judge(facts)).toEqual([sentence]);
  });

  it('does not hold a real model to what the scripted one does', () => {
    expect(judge({ ...fixWith({ subtasks: 3, merged: 1, leftOut: [] }), scripted: false })).toEqual([]);
  });
});
