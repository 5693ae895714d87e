import { describe, expect, it } from 'vitest';
import type { Published, StormFacts } from '../../chaos/storm/facts.ts';
import { judgeStorm } from '../../chaos/storm/judge.ts';
import type { AskedTask } from '../../chaos/storm/tasks.ts';

const fix: AskedTask = {
  name: 'fix-1',
  kind: 'fix',
  repository: 'tea/cups',
  files: { 'src/a.js': 'new a', 'src/b.js': 'new b' },
  findings: [],
  number: 3,
  commented: [3],
  headSha: '',
};
const review: AskedTask = {
  name: 'review-1',
  kind: 'review',
  repository: 'tea/shop',
  files: {},
  findings: ['src/a.ts:2'],
  number: 1,
  commented: [],
  headSha: 'abc',
};
const asked = [fix, review];

const published: Published = {
  checkRuns: [
    {
      repository: 'tea/shop',
      headSha: 'abc',
      status: 'completed',
      conclusion: 'failure',
      annotations: ['src/a.ts:2 Input is evaluated as code'],
    },
  ],
  reviews: [{ repository: 'tea/shop', number: 1, places: ['src/a.ts:2'] }],
  comments: [{ repository: 'tea/cups', number: 3, marker: '<!-- patchfleet:reply:9 -->' }],
  pulls: [{ repository: 'tea/cups', number: 4, headRef: 'patchfleet/t1' }],
  branches: [{ repository: 'tea/cups', name: 'patchfleet/t1' }],
};
const done = { phase: 'finished', outcome: 'succeeded', failure: null };
const agent = { kind: 'agent', status: 'succeeded', failure: null };
const whole: StormFacts = {
  tasks: [
    {
      rows: [{ id: 't1', ...done }],
      subtasks: [
        { ...agent, title: 'a' },
        { ...agent, title: 'b' },
        { ...agent, kind: 'integrate', title: 'all' },
      ],
      files: { 'src/a.js': 'new a', 'src/b.js': 'new b' },
    },
    { rows: [{ id: 't2', ...done }], subtasks: [{ ...agent, title: 'a' }], files: {} },
  ],
  published,
  sandboxes: [],
};

const [fixFacts, reviewFacts] = whole.tasks;
if (fixFacts === undefined || reviewFacts === undefined) throw new Error('two tasks are known above');
const judge = (facts: Partial<StormFacts>) => judgeStorm(asked, { ...whole, ...facts });
const publishing = (change: Partial<Published>) => judge({ published: { ...published, ...change } });
const nothing = { lost: [], duplicatePublications: [], stuckChecks: [], orphanSandboxes: [] };

describe('a storm', () => {
  it('is without fault when everything is there, once', () => {
    expect(judge({})).toEqual(nothing);
  });

  it('has lost everything when nothing was found, however quiet that is', () => {
    const empty = { checkRuns: [], reviews: [], comments: [], pulls: [], branches: [] };
    expect(judgeStorm(asked, { tasks: [], published: empty, sandboxes: [] })).toEqual({
      ...nothing,
      lost: ['fix-1: there is no such task', 'review-1: there is no such task'],
    });
  });

  it.each([
    [
      'a task that is not over',
      { ...fixFacts, rows: [{ id: 't1', phase: 'running', outcome: null, failure: null }] },
      ['fix-1: it is running, without an outcome'],
    ],
    [
      'a task that failed, with its code',
      { ...fixFacts, rows: [{ id: 't1', phase: 'finished', outcome: 'partial', failure: 'worker_lost' }] },
      ['fix-1: it is finished, partial worker_lost'],
    ],
    [
      'a row that failed though its files are there',
      {
        ...fixFacts,
        subtasks: fixFacts.subtasks.with(1, { ...agent, title: 'b', status: 'failed', failure: 'internal' }),
      },
      ['fix-1: the row b is failed internal'],
    ],
    [
      'a row that was never planned',
      { ...fixFacts, subtasks: fixFacts.subtasks.slice(1) },
      ['fix-1: 1 rows are planned, not 2'],
    ],
    [
      'a file that the pull request does not change',
      { ...fixFacts, files: { 'src/a.js': 'old a', 'src/b.js': 'new b' } },
      ['fix-1: src/a.js is not changed in the pull request'],
    ],
  ])('has lost %s', (_, facts, lost) => {
    expect(judge({ tasks: [facts, reviewFacts] })).toEqual({ ...nothing, lost });
  });

  it.each([
    ['a pull request', { pulls: [] }, ['fix-1: it has no pull request']],
    ['a comment', { comments: [] }, ['fix-1: issue 3 has no comment']],
    ['a finding', { reviews: [] }, ['review-1: the finding at src/a.ts:2']],
    ['a check run', { checkRuns: [] }, ['review-1: it has no check run']],
    [
      'the word of a check run',
      { checkRuns: published.checkRuns.map((run) => ({ ...run, conclusion: 'success', annotations: [] })) },
      ['review-1: its check run says success', 'review-1: its check run has 0 annotations, not 1'],
    ],
  ])('has lost %s that is not on GitHub', (_, change, lost) => {
    expect(publishing(change)).toEqual({ ...nothing, lost });
  });

  it.each(['checkRuns', 'reviews', 'comments', 'pulls', 'branches'] as const)(
    'has published twice what is among the %s twice',
    (kind) => {
      const twice = { [kind]: [...published[kind], ...published[kind]] };
      const { duplicatePublications, ...rest } = publishing(twice);
      expect(duplicatePublications).toHaveLength(1);
      expect(rest).toEqual({ lost: [], stuckChecks: [], orphanSandboxes: [] });
    },
  );

  it('has published twice what is doubled inside a check run or a review', () => {
    const [run] = published.checkRuns;
    const [one] = published.reviews;
    if (run === undefined || one === undefined) throw new Error('both are known above');
    const judged = publishing({
      checkRuns: [{ ...run, annotations: [...run.annotations, ...run.annotations] }],
      reviews: [{ ...one, places: [...one.places, ...one.places] }],
    });
    expect(judged).toEqual({
      ...nothing,
      duplicatePublications: [
        'annotation of abc: src/a.ts:2 Input is evaluated as code',
        'inline comment of #1 at src/a.ts:2',
      ],
    });
  });

  it('has published twice what belongs to nothing that was asked for, and a task that is there twice', () => {
    const { duplicatePublications } = judge({
      tasks: [{ ...fixFacts, rows: [...fixFacts.rows, { id: 't9', ...done }] }, reviewFacts],
      published: {
        ...published,
        branches: [...published.branches, { repository: 'tea/cups', name: 'patchfleet/t9' }],
      },
    });
    expect(duplicatePublications).toHaveLength(2);
  });

  it('names check runs that are open and sandboxes that are left', () => {
    const judged = judge({
      sandboxes: ['container 0123'],
      published: {
        ...published,
        checkRuns: [
          ...published.checkRuns.map((run) => ({ ...run, status: 'in_progress', conclusion: 'failure' })),
        ],
      },
    });
    expect(judged).toEqual({
      ...nothing,
      stuckChecks: ['check run of tea/shop abc is in_progress'],
      orphanSandboxes: ['container 0123'],
    });
  });
});
