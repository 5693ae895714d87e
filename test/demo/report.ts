import type { StageTimes } from './measure.ts';
import type { DemoFacts } from './run-demo.ts';

/** The check run and the review as GitHub would show them, as text. */
export function renderResult({ checkRun, review }: DemoFacts): string {
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

/** How long it took, and what ran beside what. */
export function renderTimings({ figures, stages }: DemoFacts): string {
  const { shards, maxConcurrent, wallMs, agentMsSum } = figures;
  return [
    heading('Timings'),
    '',
    `${shards} shards, at most ${maxConcurrent} at once`,
    `wall ${seconds(wallMs)}, sum of agent times ${seconds(agentMsSum)}`,
    '',
    `${'stage'.padEnd(20)}${['count', 'median', 'max', 'sum'].map((name) => name.padStart(10)).join('')}`,
    ...stages.map(stageLine),
  ].join('\n');
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
