import type { PlannerAgent } from '../agents/port.ts';
import type { Limits } from '../config/operator-config.ts';
import type { RepositoryConfig } from '../config/repository-config.ts';
import type { Plan } from '../domain/matrix.ts';
import type { ProtectionOf } from '../domain/protected-paths.ts';
import { fixContract } from './fix-contract.ts';
import { fixRow, integrateRow } from './fix-rows.ts';
import { joinRows } from './join-rows.ts';
import { type Checks, whySerial } from './judge-parallel.ts';
import { listFiles } from './list-files.ts';
import { proposePlan } from './propose-plan.ts';
import { quoteInstruction, quoteSubject, type SubjectText } from './quote-subject.ts';
import { shardRepository } from './shard-repository.ts';
import type { ValidRow } from './validate-plan.ts';

export interface FixFacts {
  readonly taskId: string;
  /** In the words of whoever asked. */
  readonly instruction: string;
  readonly subject: SubjectText;
  /** Paths of all files of the commit that is worked on. */
  readonly files: readonly string[];
  readonly config: RepositoryConfig;
  readonly limits: Limits;
  /** Name of the agent that writes. */
  readonly agent: string;
  readonly protection: ProtectionOf;
  readonly checks: Checks;
  /** Null: no model plans; the repository is cut by its packages. */
  readonly propose: PlannerAgent['propose'] | null;
  readonly signal: AbortSignal;
}

/**
 * The task matrix of a fix or campaign: rows of agents, then the row that merges and verifies. The model is asked
 * at most twice; without a plan that holds, the repository is cut by its packages.
 */
export async function planFix(facts: FixFacts): Promise<Plan> {
  const { config, files, limits } = facts;
  const maxRows = config.fix.max_subtasks;
  const proposed =
    facts.propose === null
      ? null
      : await proposePlan(
          facts.propose,
          {
            taskId: facts.taskId,
            instruction: facts.instruction,
            subject: subjectText(facts.subject),
            files: listFiles(files),
            conventions: config.fix.instructions,
            maxRows,
            signal: facts.signal,
          },
          { files, maxRows, protection: facts.protection },
        );
  const valid = proposed !== null && 'rows' in proposed ? proposed : null;
  const background = [quoteInstruction(facts.instruction), quoteSubject(facts.subject)]
    .filter((text) => text !== '')
    .join('\n\n');
  const judged = valid === null ? null : judgeRows(valid, facts);
  const rows = (judged?.rows ?? shardRepository(files, maxRows)).map((row) =>
    fixRow(row, { agent: facts.agent, limits, background, issue: null }),
  );
  return {
    contract: fixContract(valid?.contract ?? ''),
    rows: [...rows, integrateRow([...rows.keys()], limits)],
    ...(judged === null || judged.serialReason === '' ? {} : { serialReason: judged.serialReason }),
  };
}

/** The rows of a model's plan, or the one row they become where they should not run side by side. */
export function judgeRows(
  plan: { readonly rows: readonly ValidRow[]; readonly serialReason: string },
  { files, checks }: Pick<FixFacts, 'files' | 'checks'>,
): { readonly rows: readonly ValidRow[]; readonly serialReason: string } {
  const serialReason = whySerial(plan.rows, { given: plan.serialReason, checks });
  const join = serialReason !== '' && plan.rows.length > 1;
  return { rows: join ? [joinRows(plan.rows, files)] : plan.rows, serialReason };
}

/** Title and body as the planner is given them; fenced where they are put into a prompt. */
export function subjectText({ kind, title, body }: SubjectText): string {
  return kind === 'branch' ? '' : [title, body.trim()].filter((text) => text !== '').join('\n\n');
}
