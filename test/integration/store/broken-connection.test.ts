import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { openTestDatabase } from '../../support/database.ts';

it('a connection that breaks between two statements fails its transaction, and nothing else', async () => {
  await using database = await openTestDatabase();
  const { db, pool } = database;
  const other = database.newPool({ max: 1 });
  const transaction = db.transaction(async (tx) => {
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    await other.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
    await tx.execute(sql`select 1`);
  });
  await expect(transaction).rejects.toThrow();
  // An error that nobody listens to is an exception of the process, which ends it (and fails this file).
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await other.end();
});
