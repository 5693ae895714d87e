import { afterAll, beforeAll, expect, it } from 'vitest';
import { createVerifications } from '../../../src/store/verifications.ts';
import { openTestDatabase } from '../../support/database.ts';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const report = (peakMib?: number | null) => ({
  tree: 't',
  commands: [],
  ...(peakMib === undefined ? {} : { peakMib }),
});

it('remembers what the newest verifications of a repository needed', async () => {
  const verifications = createVerifications(database.db);
  expect(await verifications.peaks(7)).toEqual([]);
  for (let index = 1; index <= 12; index += 1) await verifications.put(`k${index}`, report(index * 100), 7);
  // Kept once: what comes second changes nothing.
  await verifications.put('k1', report(9000), 7);
  await verifications.put('unknown', report(null), 7);
  await verifications.put('old', report(), 7);
  await verifications.put('other', report(5), 8);
  expect(await verifications.peaks(7)).toEqual([1200, 1100, 1000, 900, 800, 700, 600, 500, 400, 300]);
  expect(await verifications.peaks(8)).toEqual([5]);
  expect([await verifications.get('k1'), await verifications.get('old')]).toEqual([report(100), report()]);
});
