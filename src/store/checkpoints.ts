import { and, asc, desc, eq, inArray, sql } from 'drizzle-orm';
import type { ModelMessage } from '../inference/port.ts';
import type { Database, Executor } from './database.ts';
import type { Claim } from './port/attempts.ts';
import type { Checkpoint, Checkpoints } from './port/checkpoints.ts';
import { attempts, checkpoints } from './schema.ts';

/** What a row's text holds. */
interface KeptTurn {
  readonly beginning: string;
  readonly messages: readonly ModelMessage[];
}

/** The turns of agents, one row each. A turn is one statement, which finds no row to add to once the claim is gone. */
export function createCheckpoints(db: Database): Checkpoints {
  return {
    save: async (claim, { turn, beginning, messages, tokens, patch }) => {
      const text = JSON.stringify({ beginning, messages } satisfies KeptTurn);
      const bytes = patch === null ? null : Buffer.from(patch);
      // Only the newest patch is ever read: those before it would be as many copies of it.
      const older =
        patch === null
          ? sql``
          : sql`, older as (
              update ${checkpoints} set patch = null from held
              where ${checkpoints.subtaskId} = held.subtask_id and ${checkpoints.turn} < ${turn}
                and ${checkpoints.patch} is not null)`;
      const { rows } = await db.execute(sql`
        with held as (${held(claim)}) ${older}
        insert into ${checkpoints} (subtask_id, turn, attempt_id, messages, tokens, patch)
        select held.subtask_id, ${turn}::int, held.id, ${text}, ${tokens}::int, ${bytes}::bytea from held
        on conflict (subtask_id, turn) do update set attempt_id = excluded.attempt_id,
          messages = excluded.messages, tokens = excluded.tokens, patch = excluded.patch, created_at = now()
        returning turn`);
      return rows.length > 0;
    },

    load: async (subtaskId) => {
      const rows = await db
        .select()
        .from(checkpoints)
        .where(eq(checkpoints.subtaskId, subtaskId))
        .orderBy(asc(checkpoints.turn));
      const last = rows.at(-1);
      if (last === undefined) return null;
      const kept = rows.map((row) => JSON.parse(row.messages) as KeptTurn);
      const beginning = kept.at(-1)?.beginning ?? '';
      // Rows of two runs, or a turn that is missing between two: there is nothing to go on from.
      const whole = rows.every(
        (row, index) => row.turn === index + 1 && kept[index]?.beginning === beginning,
      );
      if (!whole) return null;
      const [earlier] = await db
        .select({ status: attempts.status, failure: attempts.failure })
        .from(attempts)
        .where(and(eq(attempts.subtaskId, subtaskId), inArray(attempts.status, over)))
        .orderBy(desc(attempts.number))
        .limit(1);
      return {
        beginning,
        attemptId: last.attemptId,
        turns: rows.map(({ turn, tokens }, index) => ({
          turn,
          tokens,
          messages: kept[index]?.messages ?? [],
        })),
        patch: rows.findLast(({ patch }) => patch !== null)?.patch ?? null,
        earlier: earlier ?? null,
      } satisfies Checkpoint;
    },

    clear: async (claim) => {
      await db.execute(sql`
        with held as (${held(claim)})
        delete from ${checkpoints} using held where ${checkpoints.subtaskId} = held.subtask_id`);
    },
  };
}

/** The turns of a subtask are of no use any more, in the transaction that says so. */
export async function dropCheckpoints(tx: Executor, subtaskId: string): Promise<void> {
  await tx.delete(checkpoints).where(eq(checkpoints.subtaskId, subtaskId));
}

const over = ['succeeded', 'failed', 'lost', 'cancelled'] as const;

/** Locked, so that a claim is not lost between being looked at and what is written under it. */
function held(claim: Claim) {
  return sql`select id, subtask_id from ${attempts}
    where id = ${claim.attemptId} and epoch = ${claim.epoch} and status = 'running' for share`;
}
