import { createAttempts } from './attempts.ts';
import { createAudit } from './audit.ts';
import { createBudgetLedger } from './budget-ledger.ts';
import { createCheckpoints } from './checkpoints.ts';
import type { ClaimLimits } from './claim-next.ts';
import type { OpenDatabase } from './database.ts';
import { createDeadLetters } from './dead-letters.ts';
import { createDeliveries } from './deliveries.ts';
import { createDueWork } from './due.ts';
import { createFailedSetups } from './failed-setups.ts';
import { createFigures } from './figures.ts';
import { createGraphs } from './graphs.ts';
import { underLock } from './locks.ts';
import type { Store } from './port.ts';
import { createPublications } from './publications.ts';
import { createResultIndex } from './result-index.ts';
import { createTasks } from './tasks.ts';
import { createVerifications } from './verifications.ts';
import { createViews } from './views.ts';
import { createWorkers } from './workers.ts';

/** The store over an open database. `taskTokens`: the token budget of a task. `claims`: by default those of the operator file. */
export function createStore(
  database: OpenDatabase,
  options: { taskTokens: number; claims?: ClaimLimits; onError: (error: Error) => void },
): Store {
  const { db } = database;
  // Locks hold a connection while their work runs, which wants others: they have a pool of their own.
  const lockPool = database.newPool({ max: 24 });
  lockPool.on('error', options.onError);
  return {
    deliveries: createDeliveries(db),
    tasks: createTasks(db),
    attempts: createAttempts(db, options.claims),
    workers: createWorkers(db),
    checkpoints: createCheckpoints(db),
    graphs: createGraphs(db),
    views: createViews(db),
    figures: createFigures(db),
    publications: createPublications(db),
    verifications: createVerifications(db),
    failedSetups: createFailedSetups(db),
    resultIndex: createResultIndex(db),
    ledger: createBudgetLedger(db, options.taskTokens),
    audit: createAudit(db),
    deadLetters: createDeadLetters(db),
    due: createDueWork(db),
    withLock: async (name, work) => {
      const result = await underLock(lockPool, name, true, async () => ({ value: await work() }));
      if (result === null) throw new Error('a lock that was waited for was not had');
      return result.value;
    },
    tryLock: (name, work) => underLock(lockPool, name, false, work),
    ping: async () => {
      await database.pool.query('select 1');
    },
    close: async () => {
      await lockPool.end();
      await database.close();
    },
  };
}
