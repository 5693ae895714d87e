import { drizzle } from 'drizzle-orm/node-postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { comingUp } from '../../../src/store/coming-up.ts';
import type { Database } from '../../../src/store/database.ts';
import { createGraphs } from '../../../src/store/graphs.ts';
import * as schema from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: ReturnType<typeof createStore>;
beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
});
afterAll(() => store.close());

interface Node {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}

/** Rows that a plan takes from tables, those included that a filter drops. */
function rowsRead(node: Node): number {
  const own =
    node['Relation Name'] === undefined ? 0 : node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  return own * node['Actual Loops'] + (node.Plans ?? []).reduce((sum, inner) => sum + rowsRead(inner), 0);
}

/** The most rows that one of the reading statements of `work` takes from tables, as the database tells. */
async function mostRead(work: (db: Database) => Promise<unknown>): Promise<number> {
  const said: { query: string; params: unknown[] }[] = [];
  const logger = { logQuery: (query: string, params: unknown[]) => void said.push({ query, params }) };
  await work(drizzle(database.pool, { schema, logger }));
  const reads = said.filter(({ query }) => /^\s*(select|with)\b/i.test(query));
  expect(reads.length).toBeGreaterThan(0);
  const counts: number[] = [];
  for (const { query, params } of reads) {
    const { rows } = await database.pool.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `explain (analyze, format json) ${query}`,
      params,
    );
    counts.push(rowsRead(rows[0]?.['QUERY PLAN'][0].Plan ?? { 'Actual Rows': Infinity, 'Actual Loops': 1 }));
  }
  return Math.max(...counts);
}

it.each([
  ['before the database has statistics of it', false],
  ['once it has', true],
])('a look at a graph reads what it asks for, not all that waits, %s', async (key, analyzed) => {
  const { task } = await store.tasks.create(newTask({ kind: 'fix', key }));
  const rows = Array.from({ length: 2000 }, (_, row) => newRow(`row ${row}`, { complexity: row % 7 }));
  await store.tasks.beginPlanning(task.id);
  await store.tasks.storePlan(task.id, newPlan(...rows), planFacts);
  if (analyzed) await database.pool.query('analyze');
  const coming = await mostRead((db) => comingUp(db, 15_000, [task.id], { worker: 'one', most: 8 }));
  const advance = await mostRead((db) =>
    createGraphs(db).advance(task.id, { parallel: () => 8, decide: () => [] }),
  );
  expect({ coming: coming < 100, advance: advance < 100 }).toEqual({ coming: true, advance: true });
});
