import type { Limits } from '../config/operator-config.ts';
import type { PlannedRow, RowLimits } from '../domain/matrix.ts';
import type { ValidRow } from './validate-plan.ts';

/** Rows of plans that change files: those of agents, and the one that merges what they made. */

export interface FixRowFacts {
  /** Name of the agent that writes. */
  readonly agent: string;
  readonly limits: Limits;
  /** What was asked for and about what, quoted: see quote-subject.ts. */
  readonly background: string;
  /** The issue of a batch; null: the whole task. */
  readonly issue: number | null;
}

export function fixRow(row: ValidRow, facts: FixRowFacts): PlannedRow {
  return {
    title: row.title,
    agent: facts.agent,
    kind: 'agent',
    waitsFor: row.dependsOn.length === 0 || row.needsSuccess ? 'success' : 'end',
    issue: facts.issue,
    matrix: {
      goal: row.goal,
      background: facts.background,
      inputs: [...row.inputs],
      writes: [...row.writes],
      output:
        'The changed files in the workspace, and a summary of what was changed and why. No change is a good answer where nothing is to be changed; it needs a reason.',
      constraints: [
        'Only files of the scope are written. Other rows write the others at the same time.',
        'Names, interfaces and conventions of the contract are kept exactly.',
        'Tests, package scripts, runner configuration and lockfiles stay as they are, unless the scope names the very file.',
        'The smallest change that meets the goal, in the style of the code around it.',
      ],
      verification: row.verification,
      limits: rowLimits(facts.limits),
    },
    dependsOn: row.dependsOn,
    complexity: Math.max(1, row.scope.covers.length),
  };
}

/** Times an attempt's wall-clock limit that merging may take: it verifies, and bisects where the whole is red. */
const integrateFactor = 4;

/** Merges what the rows it depends on made, in their order, and verifies the whole. Starts once all are over. */
export function integrateRow(
  dependsOn: readonly number[],
  limits: Limits,
  issue: number | null = null,
): PlannedRow {
  const wallMs = limits.attempt_seconds * 1000 * integrateFactor;
  return {
    title: issue === null ? 'merge and verify' : `merge and verify #${issue}`,
    agent: '',
    kind: 'integrate',
    waitsFor: 'end',
    issue,
    matrix: {
      goal: 'Merge the patches of the rows it depends on into the target, in their order, and verify the whole.',
      background: '',
      inputs: [],
      writes: [],
      output: 'A verified candidate, and what was left out with its reason.',
      constraints: ['A candidate that stays red is never published.'],
      verification: 'The checks of the repository, against the report of the target itself.',
      // Verification is silent for long; it has its wall limit alone.
      limits: { ...rowLimits(limits), wallMs, idleMs: wallMs },
    },
    dependsOn: [...dependsOn],
    complexity: 1,
  };
}

export function rowLimits(limits: Limits): RowLimits {
  return {
    wallMs: limits.attempt_seconds * 1000,
    idleMs: limits.idle_seconds * 1000,
    turns: limits.agent_turns,
    tokens: limits.attempt_tokens,
  };
}
