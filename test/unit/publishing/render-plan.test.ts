import { describe, expect, it } from 'vitest';
import { type PlanFigures, renderPlan } from '../../../src/publishing/render-plan.ts';
import type { Subtask } from '../../../src/store/port.ts';
import { changeView } from './change-view.ts';
import { subtaskRow } from './view.ts';

const id = (row: number) => subtaskRow(row).id;
const limits = { wallMs: 1, idleMs: 1, turns: 1, tokens: 1000 };
const agent = (title: string, writes: string[]): Partial<Subtask> => ({
  title,
  status: 'skipped',
  matrix: { ...subtaskRow(0).matrix, writes, limits },
});
const figures = (over: Partial<PlanFigures> = {}): PlanFigures => ({
  dependsOn: new Map(),
  used: [],
  priceOf: () => null,
  bounds: [{ name: '`limits.task_parallel`', most: 16 }],
  taskTokens: 1_000_000,
  ...over,
});

const three = [
  agent('the API', ['src/api/**', 'a|b.ts']),
  agent('the /patchfleet UI for @mona', ['1', '2', '3', '4', '5', '6']),
  agent('the docs', ['docs/**']),
];

describe('the comment of a plan', () => {
  it('shows the matrix, how much runs at once and what it may use', () => {
    const view = changeView({ agents: three, candidates: [{ candidate: null }] });
    const text = renderPlan(
      view,
      figures({
        dependsOn: new Map([
          [id(2), [id(1), id(0)]],
          [id(3), [id(0), id(1), id(2)]],
        ]),
        used: [{ agent: 'fixer', rows: 2, tokens: 600, costMicros: 900_000 }],
      }),
    );
    expect(text.split('\n\n')).toEqual([
      '**The plan: 3 subtasks.** Nothing was run, and nothing will be.',
      [
        '| Row | Subtask | Scope | After | Agent |',
        '|--:|---|---|---|---|',
        '| 1 | the API | src/api/\\*\\*, a&#124;b.ts |  | fixer |',
        '| 2 | the /\u200bpatchfleet UI for @\u200bmona | 1, 2, 3, 4, and 2 more |  | fixer |',
        '| 3 | the docs | docs/\\*\\* | 1, 2 | fixer |',
      ].join('\n'),
      'Parallelism: at most 2 of them at once. The longest chain is 2 rows: 2 → 3. What they make is merged and verified after that.',
      'Estimate: about 900 tokens, $1.35: from what 2 rows of the same agents used here lately.',
      'To have it done: `/patchfleet fix` with the same words. It is planned anew then and may differ.',
      'Spent: 3 model calls, 1,200 tokens · Task `11111111-1111-4111-8111-111111111111`',
    ]);
  });

  it('says by what the parallelism is bound, and that the estimate is of limits', () => {
    const text = renderPlan(
      changeView({ agents: three }),
      figures({
        bounds: [
          { name: '`limits.task_parallel`', most: 16 },
          { name: 'the quota', most: 2 },
        ],
        priceOf: () => ({ input: 1, output: 10 }),
        taskTokens: 2500,
      }),
    );
    expect(text).toContain('at most 2 of them at once (3 could, the quota is 2). What they make');
    expect(text).toContain(
      'Estimate: at most 3,000 tokens, $0.03: nothing of the kind ran here lately, so these are the limits of the rows. A task may spend 2,500 (`limits.task_tokens`).',
    );
  });

  it('says why it is one subtask; words of the planner are defused', () => {
    const task = { serialReason: 'ask @mona: the format is <b>not</b> settled.' };
    const text = renderPlan(changeView({ task, agents: [agent('all', ['**'])] }), figures());
    expect(text).toContain(
      '\n\nRuns as one subtask: ask @\u200bmona: the format is &lt;b&gt;not&lt;/b&gt; settled.\n\n',
    );
    expect(text).not.toContain('Parallelism');
  });

  it('says what failed, and that it was cancelled', () => {
    const failure = { code: 'plan_invalid', detail: 'no rows' } as const;
    const failed = renderPlan(changeView({ task: { outcome: 'failed', failure }, agents: [] }), figures());
    expect(failed).toContain(
      '**The plan failed.**\n\nNo valid plan could be made (`plan_invalid`): no rows.',
    );
    const cancelled = changeView({ task: { outcome: 'cancelled' }, agents: [] });
    expect(renderPlan(cancelled, figures())).toBe('**The plan was cancelled.**');
  });

  it('fits into a comment, however long the plan', () => {
    const rows = Array.from({ length: 200 }, (_, row) =>
      agent(
        `row ${row} ${'x'.repeat(300)}`,
        Array.from({ length: 50 }, (_, file) => `${'d/'.repeat(200)}${file}`),
      ),
    );
    const text = renderPlan(changeView({ agents: rows }), figures());
    expect(text.length).toBeLessThan(50_000);
    expect(text).toMatch(/\| \| \d+ more subtasks \|/);
  });
});
