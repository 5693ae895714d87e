import fc from 'fast-check';
import { afterAll, beforeAll, describe, it } from 'vitest';
import type { Store } from '../../../src/store/port.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { histories } from '../../support/graph/histories.ts';
import { play } from '../../support/graph/play.ts';
import { storeWorlds } from '../../support/graph/store-world.ts';

/** See decide.prop.test.ts. */
const times = Number(process.env['PATCHFLEET_HISTORIES'] ?? 1);

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let store: Store;
beforeAll(async () => {
  database = await openTestDatabase();
  store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
});
afterAll(() => store.close());

describe('a graph in the store, played to its end against what may happen', () => {
  it(
    'keeps order, scopes and limits, ends, and counts each accepted result once',
    async () => {
      await fc.assert(
        fc.asyncProperty(histories({ maxRows: 8, maxEvents: 40 }), async (history) => {
          await play(storeWorlds(database, store), history);
        }),
        // A failure is told before the test's own limit, however far it was made smaller by then.
        { numRuns: 25 * times, interruptAfterTimeLimit: 150_000 * times },
      );
    },
    // Cut off by its own limit before.
    300_000 * times,
  );
});
