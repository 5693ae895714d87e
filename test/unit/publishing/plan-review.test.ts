import { describe, expect, it } from 'vitest';
import { fingerprint } from '../../../src/domain/finding.ts';
import { maxInline, planReview } from '../../../src/publishing/plan-review.ts';
import { addedFile, finding, subtaskRow, viewOf } from './view.ts';

const diff = [addedFile('src/a.ts', 300)];

describe('planReview', () => {
  it('puts findings of the diff inline and the rest into the body', () => {
    const findings = [
      finding(3, { endLine: 5, replacement: 'a\n```\nb', body: 'See `x`.' }),
      finding(301),
      finding(2, { path: 'src/other.ts', side: 'LEFT', replacement: 'c' }),
    ];
    const draft = planReview(viewOf({ findings }), new Set(), diff);
    expect(draft).toEqual({
      comments: [
        {
          path: 'src/a.ts',
          side: 'RIGHT',
          line: 5,
          start_line: 3,
          start_side: 'RIGHT',
          body: '**warning**: Problem at 3\n\nSee `x`.\n\n````suggestion\na\n```\nb\n````\n\n<sub>Rule `rule-3`</sub>',
        },
      ],
      inBody: 2,
      leftOut: 0,
      known: 0,
      published: findings.map(fingerprint),
      body: [
        '<!-- patchfleet:review:11111111-1111-4111-8111-111111111111 -->',
        '**3 findings (3 warnings)**: 1 inline, 2 not on a line of the diff, below.',
        '#### warning: Problem at 301\n`src/a.ts` line 301 · rule `rule-301`',
        'It is wrong.',
        '#### warning: Problem at 2\n`src/other.ts` deleted line 2 · rule `rule-2`',
        'It is wrong.',
        'Proposed replacement:',
        '```\nc\n```',
        '<sub>Task 11111111-1111-4111-8111-111111111111</sub>',
      ].join('\n\n'),
    });
  });

  it('says nothing when there is nothing new', () => {
    const one = finding(1);
    expect(planReview(viewOf({}), new Set(), diff)).toBe(null);
    expect(planReview(viewOf({ findings: [one] }), new Set([fingerprint(one)]), diff)).toBe(null);
  });

  it('opens with the shards that failed', () => {
    const failure = { code: 'model_timeout', detail: '60 s' } as const;
    const subtasks = [subtaskRow(0), subtaskRow(1, { status: 'failed', failure, title: 'api | x' })];
    const draft = planReview(
      viewOf({ task: { outcome: 'partial' }, subtasks, findings: [finding(1)] }),
      new Set(),
      diff,
    );
    expect(draft?.body.split('\n').slice(2, 5)).toEqual([
      '**1 shard failed**, so the files in it were not reviewed:',
      '',
      '- api &#124; x (linter): The model did not answer in time (`model_timeout`): 60 s. Comment `/patchfleet review` to try again, or raise `limits.model_call_seconds`.',
    ]);
  });

  it('says once what many shards failed by', () => {
    const failure = { code: 'setup_failed', detail: '`npm ci` ended with exit code 1.' } as const;
    const other = { code: 'model_timeout', detail: '60 s' } as const;
    const subtasks = Array.from({ length: 40 }, (_, row) =>
      subtaskRow(row, { status: 'failed', failure: row === 1 ? other : failure, title: `part ${row}` }),
    );
    const draft = planReview(
      viewOf({ task: { outcome: 'partial' }, subtasks, findings: [finding(41)] }),
      new Set(),
      diff,
    );
    const told = draft?.body.split('\n').filter((line) => line.startsWith('- ')) ?? [];
    const names = [0, ...Array.from({ length: 11 }, (_, at) => at + 2)].map((row) => `part ${row} (linter)`);
    expect(told.map((line) => line.slice(0, line.indexOf('): ') + 3))).toEqual([
      `- 39 shards (${names.join(', ')}, and 27 more): `,
      '- part 1 (linter): ',
    ]);
    expect(draft?.body.split('ended with exit code 1')).toHaveLength(2);
  });

  it('counts what fits nowhere, and does not take it for published', () => {
    const findings = Array.from({ length: 60 }, (_, index) =>
      finding(index + 1, { path: 'src/other.ts', body: 'x'.repeat(5_000) }),
    );
    const draft = planReview(viewOf({ findings }), new Set(), diff);
    expect(draft?.inBody).toBeGreaterThan(5);
    expect((draft?.inBody ?? 0) + (draft?.leftOut ?? 0)).toBe(60);
    expect(draft?.published.length).toBe(draft?.inBody);
    expect(draft?.body).toContain(`${draft?.leftOut} more findings did not fit here`);
  });

  it('keeps a page readable: beyond some inline comments the rest goes into the body', () => {
    const findings = Array.from({ length: maxInline + 7 }, (_, index) => finding(index + 1));
    const draft = planReview(viewOf({ findings }), new Set(), diff);
    expect([draft?.comments.length, draft?.inBody]).toEqual([maxInline, 7]);
  });

  it('leaves everything to the body when the diff is not known', () => {
    const draft = planReview(viewOf({ findings: [finding(1)] }), new Set(), null);
    expect([draft?.comments.length, draft?.inBody]).toEqual([0, 1]);
  });
});
