import type { Planted } from '../support/sample/sample.ts';
import type { DemoFacts } from './run-demo.ts';

/** What the demo promises, held against what happened: one sentence for each promise that was not kept. */
export function judge(facts: DemoFacts): string[] {
  const { figures, checkRun, review, planted } = facts;
  const broken = [
    figures.checkRuns === 1 || `there are ${figures.checkRuns} check runs for the head, not 1`,
    figures.reviews === 1 || `there are ${figures.reviews} reviews, not 1`,
    figures.shards >= 8 || `there are ${figures.shards} shards, fewer than 8`,
    figures.maxConcurrent >= 4 || `at most ${figures.maxConcurrent} sandboxes worked at once, fewer than 4`,
    facts.sandboxesLeft === 0 || `${facts.sandboxesLeft} sandboxes are left`,
    facts.exitCode === 0 || `Patchfleet ended with ${facts.exitCode}, not 0`,
    ...facts.problems,
  ];
  if (facts.scripted) {
    broken.push(
      figures.conclusion === 'failure' || `the check run concluded ${figures.conclusion}, not failure`,
      figures.shardsWithFaults >= 8 ||
        `faults were found in ${figures.shardsWithFaults} shards, fewer than 8`,
      figures.annotations === planted.length ||
        `there are ${figures.annotations} annotations for ${planted.length} planted faults`,
      ...planted.flatMap((fault) => [
        checkRun.annotations.some(({ path, start_line }) => isAt(fault, path, start_line)) ||
          `no annotation at ${fault.path}:${fault.line} (${fault.rule})`,
        review.comments.some(({ path, line, side }) => side === 'RIGHT' && isAt(fault, path, line)) ||
          `no inline comment at ${fault.path}:${fault.line} (${fault.rule})`,
      ]),
    );
  }
  return broken.filter((sentence) => typeof sentence === 'string');
}

function isAt(fault: Planted, path: string, line: number): boolean {
  return fault.path === path && fault.line === line;
}
