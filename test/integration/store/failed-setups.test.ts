import { afterAll, beforeAll, expect, it } from 'vitest';
import { createFailedSetups } from '../../../src/store/failed-setups.ts';
import { openTestDatabase } from '../../support/database.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const failure = { code: 'setup_failed', detail: '`npm ci` ended with exit code 1.' } as const;

it('a setup that failed is known for ten minutes, by its key, as it failed last', async () => {
  const failures = createFailedSetups(database.db);
  expect(await failures.fresh('one')).toBeNull();
  await failures.put('one', 7, { ...failure, detail: 'an earlier one' });
  await failures.put('one', 7, failure);
  await failures.put('two', 7, failure);
  expect(await failures.fresh('one')).toEqual(failure);
  expect(await failures.fresh('three')).toBeNull();

  const age = (minutes: number) =>
    database.pool.query(
      `update failed_setups set created_at = now() - $1 * interval '1 minute' where key = 'one'`,
      [minutes],
    );
  await age(9);
  expect(await failures.fresh('one')).toEqual(failure);
  await age(11);
  expect(await failures.fresh('one')).toBeNull();
  // What nobody reads any more does not stay.
  await failures.put('two', 7, failure);
  const { rows } = await database.pool.query('select key from failed_setups');
  expect(rows).toEqual([{ key: 'two' }]);
});
