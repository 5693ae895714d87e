import type { StageTimes } from './measure.ts';
import type { BatchFacts } from './run-batch.ts';
import type { DemoFacts } from './run-demo.ts';
import type { FixFacts } from './run-fix.ts';
import type { ReviewFacts } from './run-review.ts';

/** What GitHub would show, as text, and how long it took. */
export function renderDemo({ review, fix, batch }: DemoFacts): string {
  return [renderReview(review), renderFix(fix), renderBatch(batch), renderTimings(review, fix, batch)].join(
    '\n\n',
  );
}

function renderReview({ checkRun, review }: ReviewFacts): string {
  const comments = review.comments
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line))
    .map(({ path, line, body }) => `${path}:${line}\n${indent(visible(body))}`);
  return [
    heading(`Check run "${checkRun.name}": ${checkRun.conclusion} - ${checkRun.title}`),
    visible(checkRun.summary ?? ''),
    heading(`Review: ${review.state}, ${review.comments.length} inline comments`),
    visible(review.body),
    ...comments,
  ].join('\n\n');
}

function renderFix({ figures, contract, title, body }: FixFacts): string {
  const { number, draft, branch, testsPass } = figures.pullRequest;
  return [
    heading('The contract that every subtask of the fix was given'),
    contract,
    heading(`${draft ? 'Draft pull request' : 'Pull request'} #${number}: ${title} (${branch})`),
    visible(body),
    `Tests in a clean checkout of ${branch}: ${testsPass ? 'pass' : 'fail'}`,
  ].join('\n\n');
}

function renderBatch({ labels, comments }: BatchFacts): string {
  return [
    heading('Batch'),
    labels.map((one) => `#${one.issue}: ${one.labels.join(', ')}`).join('\n'),
    ...comments.map(({ issue, body }) => `Comment on #${issue}\n${indent(visible(body))}`),
  ].join('\n\n');
}

function renderTimings(review: ReviewFacts, fix: FixFacts, batch: BatchFacts): string {
  const { shards, ...reviewed } = review.figures;
  const { subtasks, ...fixed } = fix.figures;
  return [
    heading('Timings'),
    '',
    `Review: ${shards} shards, ${parallel(reviewed)}`,
    ...table(review.stages),
    '',
    `Fix: ${subtasks} subtasks, ${parallel(fixed)}`,
    ...table(fix.stages),
    '',
    `Batch: ${batch.figures.issues} issues, wall ${seconds(batch.wallMs)}`,
    ...table(batch.stages),
  ].join('\n');
}

function parallel(figures: { maxConcurrent: number; wallMs: number; agentMsSum: number }): string {
  const { maxConcurrent, wallMs, agentMsSum } = figures;
  return `at most ${maxConcurrent} at once, wall ${seconds(wallMs)}, sum of agent times ${seconds(agentMsSum)}`;
}

function table(stages: readonly StageTimes[]): string[] {
  const head = `${'stage'.padEnd(20)}${['count', 'median', 'max', 'sum'].map((name) => name.padStart(10)).join('')}`;
  return [head, ...stages.map(stageLine)];
}

function stageLine({ stage, count, median, max, sum }: StageTimes): string {
  const cells = [String(count), seconds(median), seconds(max), seconds(sum)];
  return `${stage.padEnd(20)}${cells.map((cell) => cell.padStart(10)).join('')}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function heading(text: string): string {
  return `== ${text}`;
}

/** Without the markers that GitHub does not show. */
function visible(markdown: string): string {
  return markdown.replace(/<!--[\s\S]*?-->\n*/g, '').trim();
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}
