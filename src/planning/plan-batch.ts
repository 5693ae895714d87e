import Bottleneck from 'bottleneck';
import type { Plan, PlannedRow } from '../domain/matrix.ts';
import type { SubjectIssue } from '../domain/task.ts';
import { fixContract } from './fix-contract.ts';
import { fixRow, integrateRow } from './fix-rows.ts';
import { listFiles } from './list-files.ts';
import { type FixFacts, subjectText } from './plan-fix.ts';
import { proposePlan } from './propose-plan.ts';
import { quoteInstruction, quoteSubject } from './quote-subject.ts';
import { orderCollisions } from './row-order.ts';
import { pathsThatExist, scopeOf } from './scope-overlap.ts';
import type { ValidRow } from './validate-plan.ts';

/** Issues planned at once. */
const planParallel = 4;

interface IssuePlan {
  readonly issue: SubjectIssue;
  readonly contract: string;
  readonly rows: readonly ValidRow[];
}

/**
 * The task matrix of a batch: one row or more per issue, in the order of the issues. Rows of different issues that
 * may write the same file are ordered: the later waits until the earlier has ended, however. One merging row for
 * each pull request that is to come of it.
 */
export async function planBatch(
  facts: Omit<FixFacts, 'subject'> & { readonly issues: readonly SubjectIssue[] },
): Promise<Plan> {
  const { config, limits, files } = facts;
  const listing = listFiles(files);
  const limiter = new Bottleneck({ maxConcurrent: planParallel });
  const plans = await Promise.all(
    facts.issues.map((issue) => limiter.schedule(() => planIssue(issue, facts, listing))),
  );
  const all = plans.flatMap((plan, index) => {
    const before = plans.slice(0, index).reduce((sum, other) => sum + other.rows.length, 0);
    return plan.rows.map((row) => ({
      issue: plan.issue,
      row: { ...row, dependsOn: row.dependsOn.map((other) => other + before) },
    }));
  });
  const ordered = orderCollisions(
    all.map(({ row }) => row.scope),
    all.map(({ row }) => row.dependsOn),
  );
  const many = facts.issues.length > 1;
  const rows = all.map(({ issue, row }, index): PlannedRow => {
    const subject = { kind: 'issue', ...issue } as const;
    const background = [quoteSubject(subject), quoteInstruction(facts.instruction)]
      .filter((text) => text !== '')
      .join('\n\n');
    const titled = { ...row, title: `#${issue.number} ${row.title}`, dependsOn: ordered[index] ?? [] };
    return fixRow(titled, { agent: facts.agent, limits, background, issue: issue.number });
  });
  const agreed = plans
    .filter((plan) => plan.contract.trim() !== '')
    .map((plan) => (many ? `### For issue #${plan.issue.number}\n\n${plan.contract.trim()}` : plan.contract));
  const integrations =
    config.batch.pull_requests === 'combined'
      ? [integrateRow([...rows.keys()], limits)]
      : facts.issues.map((issue) =>
          integrateRow(
            [...rows.keys()].filter((index) => rows[index]?.issue === issue.number),
            limits,
            issue.number,
          ),
        );
  return { contract: fixContract(agreed.join('\n\n')), rows: [...rows, ...integrations] };
}

/** Without a plan that holds, the issue is one row that may write anything, and so runs by itself. */
async function planIssue(
  issue: SubjectIssue,
  facts: Parameters<typeof planBatch>[0],
  listing: string,
): Promise<IssuePlan> {
  const maxRows = Math.max(1, Math.floor(facts.config.fix.max_subtasks / facts.issues.length));
  const goal = `Resolve issue #${issue.number}.`;
  const proposed =
    facts.propose === null
      ? null
      : await proposePlan(
          facts.propose,
          {
            taskId: facts.taskId,
            instruction: [goal, facts.instruction].filter((text) => text !== '').join('\n\n'),
            subject: subjectText({ kind: 'issue', ...issue }),
            files: listing,
            conventions: facts.config.fix.instructions,
            maxRows,
            signal: facts.signal,
          },
          { files: facts.files, maxRows, protection: facts.protection },
        );
  if (proposed !== null && 'rows' in proposed) return { issue, ...proposed };
  const writes = ['**'];
  const whole: ValidRow = {
    title: 'the whole issue',
    goal: `${goal} What it says is in the background.`,
    writes,
    inputs: [],
    dependsOn: [],
    needsSuccess: false,
    verification: 'The checks of the repository pass, and what the issue describes no longer happens.',
    scope: scopeOf(writes, facts.files, pathsThatExist(facts.files)),
  };
  return { issue, contract: '', rows: [whole] };
}
