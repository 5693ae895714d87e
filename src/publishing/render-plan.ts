import { type Estimate, estimateUse, type RowUse, type TokenPrice } from '../domain/estimate.ts';
import { longestChain, widest } from '../domain/parallelism.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Subtask } from '../store/port.ts';
import { plural } from './conclude.ts';
import { fitItems } from './fit-markdown.ts';
import { safeLine, spentLine } from './render-change-rows.ts';
import { serialLine } from './render-history.ts';
import { explain } from './render-section.ts';

/** What the comment of a plan that is only shown says. Pure. */

export interface PlanFigures {
  /** Ids of the rows each row waits for, by its id. */
  readonly dependsOn: ReadonlyMap<string, readonly string[]>;
  /** What rows of this repository used lately, by agent. */
  readonly used: readonly RowUse[];
  readonly priceOf: (agent: string) => TokenPrice | null;
  /** Subtasks of one task that may run at once, each bound with its name; in Markdown of ours. */
  readonly bounds: readonly { readonly name: string; readonly most: number }[];
  /** Tokens one task may spend. */
  readonly taskTokens: number;
}

export function renderPlan(view: TaskView, figures: PlanFigures): string {
  const { task } = view;
  if (task.outcome === 'cancelled' || task.outcome === 'superseded') return '**The plan was cancelled.**';
  if (task.failure !== null) return ['**The plan failed.**', explain(task.failure)].join('\n\n');
  const rows = view.subtasks.filter(({ kind }) => kind === 'agent');
  const parts = [
    `**The plan: ${plural(rows.length, 'subtask')}.** Nothing was run, and nothing will be.`,
    serialLine(task),
    matrix(rows, figures),
    parallelism(rows, figures),
    estimateLine(rows, figures),
    'To have it done: `/patchfleet fix` with the same words. It is planned anew then and may differ.',
    spentLine(view),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

const patternsShown = 4;

function matrix(rows: readonly Subtask[], figures: PlanFigures): string {
  const numbers = new Map(rows.map((row) => [row.id, row.row + 1]));
  return fitItems({
    before: '| Row | Subtask | Scope | After | Agent |\n|--:|---|---|---|---|\n',
    items: rows.map((row) => {
      const { writes } = row.matrix;
      const shown = writes.slice(0, patternsShown).map((pattern) => safeLine(pattern, 80));
      const more = writes.length > shown.length ? [`and ${writes.length - shown.length} more`] : [];
      const after = (figures.dependsOn.get(row.id) ?? [])
        .flatMap((id) => numbers.get(id) ?? [])
        .toSorted((a, b) => a - b);
      const cells = [
        String(row.row + 1),
        safeLine(row.title, 120),
        [...shown, ...more].join(', '),
        after.join(', '),
        safeLine(row.agent, 40),
      ];
      return `| ${cells.join(' | ')} |`;
    }),
    after: '',
    gap: '\n',
    max: 40_000,
    more: (left) => `| | ${plural(left, 'more subtask')} | | | |`,
  }).text;
}

/** Rows of a chain that are named. */
const chainShown = 12;

function parallelism(rows: readonly Subtask[], { dependsOn, bounds }: PlanFigures): string {
  if (rows.length < 2) return '';
  const position = new Map(rows.map((row, index) => [row.id, index]));
  const edges = rows.map((row) => (dependsOn.get(row.id) ?? []).flatMap((id) => position.get(id) ?? []));
  const wide = widest(edges);
  const bound = bounds.toSorted((a, b) => a.most - b.most)[0];
  const bounded = bound !== undefined && bound.most < wide;
  const atOnce = bounded
    ? `${bound.most} of them at once (${wide} could, ${bound.name} is ${bound.most})`
    : wide === rows.length
      ? 'all of them at once'
      : `${wide} of them at once`;
  const chain = longestChain(edges).map((index) => (rows[index]?.row ?? 0) + 1);
  const named = chain.slice(0, chainShown).join(' → ') + (chain.length > chainShown ? ' → …' : '');
  const path = chain.length < 2 ? '' : ` The longest chain is ${chain.length} rows: ${named}.`;
  return `Parallelism: at most ${atOnce}.${path} What they make is merged and verified after that.`;
}

function estimateLine(rows: readonly Subtask[], figures: PlanFigures): string {
  const estimate = estimateUse(
    rows.map(({ agent, matrix: { limits } }) => ({ agent, maxTokens: limits.tokens })),
    figures.used,
    figures.priceOf,
  );
  const cost = estimate.costMicros === 0 ? '' : `, $${(estimate.costMicros / 1e6).toFixed(2)}`;
  const word = estimate.fromUse === rows.length ? 'about' : 'at most';
  const over =
    estimate.tokens > figures.taskTokens
      ? ` A task may spend ${count(figures.taskTokens)} (\`limits.task_tokens\`).`
      : '';
  return `Estimate: ${word} ${count(estimate.tokens)} tokens${cost}: ${basis(estimate, rows.length)}.${over}`;
}

function basis({ fromUse, seen }: Estimate, rows: number): string {
  if (fromUse === 0) return 'nothing of the kind ran here lately, so these are the limits of the rows';
  const known = `from what ${plural(seen, 'row')} of the same agents used here lately`;
  return fromUse === rows ? known : `${known}, with the limits of ${plural(rows - fromUse, 'row')} of others`;
}

function count(tokens: number): string {
  return tokens.toLocaleString('en-US');
}
