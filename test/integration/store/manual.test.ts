import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../../support/database.ts';

/** Whoever looks into the database by the manual is not to find that its queries are of another schema. */

const manual = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
const queries = [...manual.matchAll(/^```sql\n(.*?)^```$/gms)]
  .flatMap(([, block = '']) => block.split(';'))
  .map((query) => query.trim().replaceAll('<task>', '00000000-0000-0000-0000-000000000000'))
  .filter((query) => query !== '');

it('every query of the manual is one of this schema', async () => {
  expect(queries.length).toBeGreaterThan(10);
  await using database = await openTestDatabase();
  const failed: string[] = [];
  for (const query of queries) {
    const run = database.db.execute(sql.raw(query));
    await run.catch((error: Error) => failed.push(`${query}: ${String(error.cause ?? error.message)}`));
  }
  expect(failed).toEqual([]);
});
