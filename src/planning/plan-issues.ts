import Bottleneck from 'bottleneck';
import { type FailureCode, PatchfleetError } from '../domain/failure.ts';
import { pathsThatExist, scopeOf } from '../domain/scope-overlap.ts';
import type { SubjectIssue } from '../domain/task.ts';
import type { Logger } from '../telemetry/log.ts';
import { listFiles } from './list-files.ts';
import { type FixFacts, judgeRows, subjectText } from './plan-fix.ts';
import { proposePlan } from './propose-plan.ts';
import type { ValidRow } from './validate-plan.ts';

/** Issues planned at once. */
const planParallel = 4;

export type BatchFacts = Omit<FixFacts, 'subject'> & {
  readonly issues: readonly SubjectIssue[];
  readonly log: Pick<Logger, 'warn'>;
};

export interface IssuePlan {
  readonly issue: SubjectIssue;
  readonly contract: string;
  readonly rows: readonly ValidRow[];
  /** Why the issue is one row where it might have been several; mostly empty. */
  readonly serialReason: string;
}

/** What says nothing about the issue it happened to: the next one would meet it as well. */
const forAll: readonly FailureCode[] = [
  'budget_exhausted',
  'cancelled',
  'config_invalid',
  'model_unavailable',
];

/**
 * A plan for each issue, in their order. Where planning fails for an issue, that one is planned without the model.
 * What would fail for all, or did, is thrown; then no call of the others goes on.
 */
export async function planIssues(facts: BatchFacts): Promise<IssuePlan[]> {
  const { issues, log } = facts;
  const listing = listFiles(facts.files);
  const limiter = new Bottleneck({ maxConcurrent: planParallel });
  const stop = new AbortController();
  const signal = AbortSignal.any([facts.signal, stop.signal]);
  const planOne = async (issue: SubjectIssue): Promise<IssuePlan | { failed: unknown }> => {
    signal.throwIfAborted();
    try {
      return await planIssue(issue, { ...facts, signal }, listing);
    } catch (error) {
      const alone = !(error instanceof PatchfleetError && forAll.includes(error.code));
      if (alone && !signal.aborted) return { failed: error };
      stop.abort(error);
      throw error;
    }
  };
  // Every call is waited for: none is left behind that still spends tokens.
  const settled = await Promise.allSettled(issues.map((issue) => limiter.schedule(() => planOne(issue))));
  // Of the others, some were only stopped.
  if (stop.signal.aborted) throw stop.signal.reason;
  const plans = settled.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
  const failures = plans.flatMap((plan) => ('failed' in plan ? [plan.failed] : []));
  if (issues.length > 0 && failures.length === issues.length) throw failures[0];
  return issues.map((issue, index) => {
    const plan = plans[index];
    if (plan !== undefined && !('failed' in plan)) return plan;
    log.warn(
      { err: plan?.failed, task: facts.taskId, issue: issue.number },
      'an issue is planned without the model',
    );
    return planWhole(issue, facts);
  });
}

async function planIssue(issue: SubjectIssue, facts: BatchFacts, listing: string): Promise<IssuePlan> {
  if (facts.propose === null) return planWhole(issue, facts);
  const maxRows = Math.max(1, Math.floor(facts.config.fix.max_subtasks / facts.issues.length));
  const proposed = await proposePlan(
    facts.propose,
    {
      taskId: facts.taskId,
      instruction: [goalOf(issue), facts.instruction].filter((text) => text !== '').join('\n\n'),
      subject: subjectText({ kind: 'issue', ...issue }),
      files: listing,
      conventions: facts.config.fix.instructions,
      maxRows,
      signal: facts.signal,
    },
    { files: facts.files, maxRows, protection: facts.protection },
  );
  if (!('rows' in proposed)) return planWhole(issue, facts);
  return { issue, contract: proposed.contract, ...judgeRows(proposed, facts) };
}

/** Without a plan that holds, the issue is one row that may write anything, and so runs by itself. */
function planWhole(issue: SubjectIssue, { files }: BatchFacts): IssuePlan {
  const writes = ['**'];
  const whole: ValidRow = {
    title: 'the whole issue',
    goal: `${goalOf(issue)} What it says is in the background.`,
    writes,
    inputs: [],
    dependsOn: [],
    needsSuccess: false,
    verification: 'The checks of the repository pass, and what the issue describes no longer happens.',
    scope: scopeOf(writes, files, pathsThatExist(files)),
  };
  return { issue, contract: '', rows: [whole], serialReason: '' };
}

function goalOf(issue: SubjectIssue): string {
  return `Resolve issue #${issue.number}.`;
}
