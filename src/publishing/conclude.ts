import type { RepositoryConfig } from '../config/repository-config.ts';
import { mergeFindings, type Severity, severities } from '../domain/finding.ts';
import { isOpen } from '../domain/task.ts';
import type { TaskView } from '../store/port/views.ts';
import type { FindingRow } from '../store/port.ts';
import { standingRows } from './standing-rows.ts';

export type Conclusion = 'success' | 'failure' | 'action_required' | 'cancelled';
export type FailOn = RepositoryConfig['review']['fail_on'];

export interface Verdict {
  /** Null while the work is not over. */
  readonly conclusion: Conclusion | null;
  /** One line for the title of the check run; trusted text only. */
  readonly headline: string;
}

/**
 * How a check run ends (design decision 10): a failure never looks like success. Whatever is not surely
 * all right is `failure`, `action_required` or `cancelled`, never anything a required check lets through.
 */
export function conclude(view: TaskView, failOn: FailOn): Verdict {
  const { task, subtasks } = view;
  const rows = standingRows(subtasks);
  const done = rows.filter((row) => row.status === 'succeeded').length;
  if (task.outcome === null) return { conclusion: null, headline: progress(view) };
  if (task.outcome === 'superseded') {
    return { conclusion: 'cancelled', headline: 'Superseded by a newer commit' };
  }
  if (task.outcome === 'cancelled') return { conclusion: 'cancelled', headline: 'The review was cancelled' };
  if (task.failure?.code === 'config_invalid') {
    return { conclusion: 'action_required', headline: 'The configuration is not valid' };
  }
  if (task.failure?.code === 'image_refused') {
    return { conclusion: 'action_required', headline: 'The sandbox image is not allowed' };
  }
  if (task.failure !== null) return { conclusion: 'failure', headline: 'The review failed' };
  if (subtasks.length === 0) return concludeWithoutShards(view);
  if (done === 0) return { conclusion: 'failure', headline: `The review failed: all ${shards(rows.length)}` };
  if (done < rows.length) {
    const failed = rows.length - done;
    return { conclusion: 'failure', headline: `${failed} of ${shards(rows.length)} failed` };
  }
  if (task.outcome !== 'succeeded') return { conclusion: 'failure', headline: 'The review is not complete' };
  const findings = mergedFindings(view.findings);
  const grave = findings.filter((finding) => reaches(finding.severity, failOn)).length;
  const headline = findings.length === 0 ? 'No findings' : countBySeverity(findings);
  return { conclusion: grave > 0 ? 'failure' : 'success', headline };
}

/** Nothing was planned: fine only if there was nothing that could be reviewed. */
function concludeWithoutShards({ task }: TaskView): Verdict {
  if (task.outcome !== 'succeeded') return { conclusion: 'failure', headline: 'The review failed' };
  if (task.filesChanged > task.skipped.length) {
    return { conclusion: 'action_required', headline: 'No agent is configured for the changed files' };
  }
  const headline =
    task.skipped.length === 0 ? 'No files changed' : 'Nothing to review: all files were skipped';
  return { conclusion: 'success', headline };
}

function progress({ task, subtasks }: TaskView): string {
  if (task.phase === 'planning') return 'Planning the review';
  const rows = standingRows(subtasks);
  const over = rows.filter(({ status }) => !isOpen(status)).length;
  return `Reviewing: ${over} of ${shards(rows.length)} done`;
}

/**
 * The conclusion of a check run that several pull requests share: the worst of all. A pull request that
 * moved on to another head says nothing about this one as long as another still has it.
 */
export function worst(verdicts: readonly (Verdict & { superseded: boolean })[]): Conclusion | null {
  const standing = verdicts.filter((verdict) => !verdict.superseded);
  const counted = (standing.length > 0 ? standing : verdicts).map((verdict) => verdict.conclusion);
  if (counted.length === 0 || counted.includes(null)) return null;
  const order: readonly Conclusion[] = ['failure', 'action_required', 'cancelled'];
  return order.find((conclusion) => counted.includes(conclusion)) ?? 'success';
}

/** The findings of all shards as one list, ordered by row, each problem once. */
export function mergedFindings(rows: readonly FindingRow[]) {
  return mergeFindings([...Map.groupBy(rows, (row) => row.subtaskId).values()]);
}

export function reaches(severity: Severity, failOn: FailOn): boolean {
  return failOn !== 'never' && severities.indexOf(severity) <= severities.indexOf(failOn);
}

/** `3 findings (1 error, 2 notes)`. */
export function countBySeverity(findings: readonly { severity: Severity }[]): string {
  const parts = severities.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [plural(count, severity)];
  });
  return `${plural(findings.length, 'finding')} (${parts.join(', ')})`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function shards(count: number): string {
  return plural(count, 'shard');
}
