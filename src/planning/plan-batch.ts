import type { Plan, PlannedRow } from '../domain/matrix.ts';
import { fixContract } from './fix-contract.ts';
import { fixRow, integrateRow } from './fix-rows.ts';
import { type BatchFacts, planIssues } from './plan-issues.ts';
import { quoteInstruction, quoteSubject } from './quote-subject.ts';
import { orderCollisions } from './row-order.ts';

/**
 * The task matrix of a batch: one row or more per issue, in the order of the issues. Rows of different issues that
 * may write the same file are ordered: the later waits until the earlier has ended, however. One merging row for
 * each pull request that is to come of it.
 */
export async function planBatch(facts: BatchFacts): Promise<Plan> {
  const { config, limits } = facts;
  const plans = await planIssues(facts);
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
  const serialReason = plans
    .filter((plan) => plan.serialReason !== '')
    .map((plan) => `#${plan.issue.number}: ${plan.serialReason}`)
    .join('; ');
  return {
    contract: fixContract(agreed.join('\n\n')),
    rows: [...rows, ...integrations],
    ...(serialReason === '' ? {} : { serialReason }),
  };
}
