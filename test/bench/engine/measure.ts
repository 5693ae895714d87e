import type { Driver } from './driver.ts';

/** Milliseconds for a subtask, by what there was to do. */
export interface EngineFigures {
  /** Of tasks with few rows each, in a database that is almost empty, and after all the others. */
  readonly manyTasksMs: number;
  readonly manyTasksLaterMs: number;
  /** Of one task with 1,000 rows, and with 10,000. */
  readonly smallTaskMs: number;
  readonly largeTaskMs: number;
}

const tasks = 10;
const rows = 100;
const small = 1000;
const large = 10_000;

export async function measureEngine(driver: Driver, say: (line: string) => void): Promise<EngineFigures> {
  const per = async (what: string, count: number, each: number) => {
    const ms = (await driver.run(count, each)) / (count * each);
    say(`${what}: ${ms.toFixed(2)} ms a subtask`);
    return ms;
  };
  await driver.run(2, 100);
  return {
    manyTasksMs: await per(`${tasks} tasks of ${rows} rows`, tasks, rows),
    smallTaskMs: await per(`a task of ${small} rows`, 1, small),
    largeTaskMs: await per(`a task of ${large} rows`, 1, large),
    manyTasksLaterMs: await per(`${tasks} tasks of ${rows} rows, later`, tasks, rows),
  };
}
