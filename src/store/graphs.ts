import { sql } from 'drizzle-orm';
import { applyActions } from './apply-actions.ts';
import { readClock } from './clock.ts';
import type { Database } from './database.ts';
import type { Graphs } from './port/graphs.ts';
import { readEnded, readReady } from './read-graph.ts';
import { dependencies } from './schema.ts';
import { lockRunning, settle } from './settle.ts';
import { startRows } from './start-rows.ts';

/** Reads the open ends of a graph and applies what the scheduler decides, in one transaction. */
export function createGraphs(db: Database): Graphs {
  return {
    advance: (taskId, { parallel, decide }) =>
      db.transaction(async (tx) => {
        let task = await lockRunning(tx, taskId);
        if (task === null) return null;
        const now = await readClock(tx);
        // Rows that ended, until none is left: one may give others what they are decided by.
        for (let left = true; left; ) {
          const state = await readEnded(tx, task);
          if (state === null) break;
          const actions = decide(state, now.getTime());
          if (actions.length === 0) throw new Error(`nothing was decided about ${state.ended.length} rows`);
          await applyActions(tx, task, actions);
          const counted = actions.filter((action) => action.type === 'retry' && action.counted).length;
          task = { ...task, retriesUsed: task.retriesUsed + counted };
          const decided = new Set(actions.map((action) => ('id' in action ? action.id : '')));
          left = state.ended.some(({ id }) => !decided.has(id));
        }
        const actions = decide(await readReady(tx, taskId, parallel(task), now), now.getTime());
        const starts = actions.filter((action) => action.type === 'start').map(({ id }) => id);
        const end = actions.find((action) => action.type === 'settle');
        const wake = actions.find((action) => action.type === 'wake');
        return {
          task,
          started: await startRows(tx, taskId, starts),
          settled: end !== undefined && (await settle(tx, taskId, end.outcome, null)),
          wakeInMs: wake === undefined ? null : wake.at - now.getTime(),
        };
      }),

    ancestors: async (subtaskId) => {
      const { rows } = await db.execute<{ id: string }>(sql`
        with recursive above as (
          select ${dependencies.dependsOn} as id from ${dependencies} where ${dependencies.subtaskId} = ${subtaskId}
          union
          select ${dependencies.dependsOn} from ${dependencies} join above on ${dependencies.subtaskId} = above.id
        )
        select id from above`);
      return rows.map(({ id }) => id);
    },
  };
}
