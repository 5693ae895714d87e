import { sql } from 'drizzle-orm';
import type { Database } from './database.ts';
import type { Figures } from './port/figures.ts';
import { subtasks, tasks, usage } from './schema.ts';

/** Tasks of a repository, and attempts of a channel, that count as lately. */
const recentTasks = 50;
const recentAttempts = 200;
/** Calls that are looked through for those attempts. */
const recentCalls = 4000;

/** What work used so far, for estimates and bounds. Each a query over a bounded number of rows. */
export function createFigures(db: Database): Figures {
  return {
    changeUse: async (repositoryId) => {
      const { rows } = await db.execute<{ agent: string; rows: number; tokens: number; cost: number }>(sql`
        with lately as (
          select ${tasks.id} as id from ${tasks}
           where ${tasks.repositoryId} = ${repositoryId} and ${tasks.kind} in ('fix', 'batch', 'campaign')
           order by ${tasks.createdAt} desc limit ${recentTasks}
        )
        select ${subtasks.agent} as agent, count(distinct ${subtasks.id})::float8 as rows,
               sum(${usage.tokens})::float8 as tokens, sum(${usage.costMicros})::float8 as cost
          from ${usage}
          join lately on lately.id = ${usage.taskId}
          join ${subtasks} on ${subtasks.id} = ${usage.subtaskId}
         where ${usage.state} = 'settled' and ${subtasks.kind} = 'agent'
         group by ${subtasks.agent} order by ${subtasks.agent}`);
      return rows.map(({ cost, ...use }) => ({ ...use, costMicros: cost }));
    },

    meanTokens: async (channel) => {
      const { rows } = await db.execute<{ mean: number | null }>(sql`
        with calls as (
          select ${usage.attemptId} as attempt, ${usage.tokens} as tokens, ${usage.createdAt} as made
            from ${usage}
           where ${usage.channel} = ${channel} and ${usage.state} = 'settled'
           order by ${usage.createdAt} desc nulls last limit ${recentCalls}
        ), spent as (
          select sum(tokens) as tokens from calls group by attempt order by max(made) desc limit ${recentAttempts}
        )
        select avg(tokens)::float8 as mean from spent`);
      return rows[0]?.mean ?? null;
    },
  };
}
