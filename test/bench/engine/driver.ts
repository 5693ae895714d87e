import type { Composition } from '../../../src/compose.ts';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { newPlan, newRow, newTask, planFacts } from '../../support/tasks.ts';

/** Gives the engine tasks, and waits for them. */
export interface Driver {
  /** Stands in for publishing: a settled task is finished, nobody is told. */
  readonly publish: (taskId: string) => Promise<void>;
  /** So many tasks of so many independent rows each, from before their plans are stored; milliseconds. */
  run(tasks: number, rows: number): Promise<number>;
}

export function createDriver({ store, queue }: Pick<Composition, 'store' | 'queue'>): Driver {
  const open = new Map<string, (failure: string | null) => void>();
  let made = 0;

  const create = async (): Promise<string> => {
    made += 1;
    const { task } = await store.tasks.create(
      newTask({
        key: `bench:${made}`,
        kind: 'fix',
        repositoryId: made,
        number: made,
        config: repositoryConfigSchema.parse({}),
      }),
    );
    return task.id;
  };
  const runTask = async (id: string, rows: number) => {
    const plan = newPlan(
      ...Array.from({ length: rows }, (_, row) => newRow(`row-${row}`, { agent: 'nobody' })),
    );
    if (!(await store.tasks.storePlan(id, plan, planFacts))) throw new Error('the plan could not be stored');
    const over = new Promise<string | null>((resolve) => open.set(id, resolve));
    await queue.enqueue('advance', id);
    const failure = await over;
    if (failure !== null) throw new Error(failure);
  };
  return {
    publish: async (id) => {
      const task = await store.tasks.get(id);
      if (task?.phase !== 'publishing') return;
      await store.tasks.finish(id);
      open.get(id)?.(task.outcome === 'succeeded' ? null : `a task ended as ${task.outcome}`);
      open.delete(id);
    },
    run: async (tasks, rows) => {
      const ids: string[] = [];
      for (let task = 0; task < tasks; task += 1) ids.push(await create());
      const began = performance.now();
      await Promise.all(ids.map((id) => runTask(id, rows)));
      return performance.now() - began;
    },
  };
}
