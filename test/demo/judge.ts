import type { Planted } from '../support/sample/sample.ts';
import { breaking, conflicting } from './planned-fix.ts';
import type { BatchFacts } from './run-batch.ts';
import type { DemoFacts } from './run-demo.ts';
import type { FixFacts } from './run-fix.ts';
import type { ReviewFacts } from './run-review.ts';

/** Kept, or what is wrong. */
type Kept = boolean | string;

/** What the demo promises, held against what happened: one sentence for each promise that was not kept. */
export function judge(facts: DemoFacts): string[] {
  const { scripted } = facts;
  const kept: Kept[] = [
    ...judgeReview(facts.review, scripted),
    ...judgeFix(facts.fix, scripted),
    ...judgeBatch(facts.batch, scripted),
    facts.sandboxesLeft === 0 || `${facts.sandboxesLeft} sandboxes are left`,
    facts.exitCode === 0 || `Patchfleet ended with ${facts.exitCode}, not 0`,
    ...facts.problems,
  ];
  return kept.filter((sentence) => typeof sentence === 'string');
}

function judgeReview({ figures, checkRun, review, planted }: ReviewFacts, scripted: boolean): Kept[] {
  const kept: Kept[] = [
    figures.checkRuns === 1 || `there are ${figures.checkRuns} check runs for the head, not 1`,
    figures.reviews === 1 || `there are ${figures.reviews} reviews, not 1`,
    figures.shards >= 8 || `there are ${figures.shards} shards, fewer than 8`,
    figures.maxConcurrent >= 4 || `at most ${figures.maxConcurrent} sandboxes reviewed at once, fewer than 4`,
  ];
  if (!scripted) return kept;
  return [
    ...kept,
    figures.conclusion === 'failure' || `the check run concluded ${figures.conclusion}, not failure`,
    figures.shardsWithFaults >= 8 || `faults were found in ${figures.shardsWithFaults} shards, fewer than 8`,
    figures.annotations === planted.length ||
      `there are ${figures.annotations} annotations for ${planted.length} planted faults`,
    ...planted.flatMap((fault): Kept[] => [
      checkRun.annotations.some(({ path, start_line }) => isAt(fault, path, start_line)) ||
        `no annotation at ${fault.path}:${fault.line} (${fault.rule})`,
      review.comments.some(({ path, line, side }) => side === 'RIGHT' && isAt(fault, path, line)) ||
        `no inline comment at ${fault.path}:${fault.line} (${fault.rule})`,
    ]),
  ];
}

function isAt(fault: Planted, path: string, line: number): boolean {
  return fault.path === path && fault.line === line;
}

function judgeFix({ figures, sameTree }: FixFacts, scripted: boolean): Kept[] {
  const { subtasks, maxConcurrent, pullRequest, leftOut, merged } = figures;
  const kept: Kept[] = [
    pullRequest.draft || `pull request #${pullRequest.number} is no draft`,
    pullRequest.testsPass || `the tests fail on ${pullRequest.branch}`,
    sameTree || `the tree of ${pullRequest.branch} is not that of the verified candidate`,
  ];
  if (!scripted) return kept;
  const out = leftOut.map(({ subtask, code }) => `${subtask}: ${code}`).toSorted();
  const planted = [`${breaking}: verification`, `${conflicting}: conflict`].toSorted();
  return [
    ...kept,
    subtasks >= 12 || `the fix has ${subtasks} subtasks, fewer than 12`,
    maxConcurrent >= 4 || `at most ${maxConcurrent} sandboxes worked on the fix at once, fewer than 4`,
    out.join() === planted.join() || `left out are ${out.join(', ') || 'none'}, not ${planted.join(', ')}`,
    merged === subtasks - planted.length || `${merged} of ${subtasks} subtasks are merged`,
  ];
}

function judgeBatch({ figures, labels }: BatchFacts, scripted: boolean): Kept[] {
  if (!scripted) return [];
  const { issues, done, pullRequests } = figures;
  const shown = labels.map((one) => `#${one.issue} ${one.labels.join(', ')}`).join('; ');
  return [
    issues === 3 || `the batch has ${issues} issues, not 3`,
    done === issues || `${done} of ${issues} issues are done, by their labels: ${shown}`,
    pullRequests === 1 || `the batch has ${pullRequests} pull requests, not 1`,
  ];
}
