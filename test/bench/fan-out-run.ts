import type { Case } from './fan-out-cases.ts';
import { flatGraph, type GraphRow, scopeOf, scriptOf } from './fan-out-graphs.ts';
import { type FanOutResult, measureFanOut } from './fan-out-stages.ts';
import { readFanOut } from './read-fan-out.ts';
import type { BenchContext } from './result.ts';
import { callsOfRow } from './stage/script.ts';
import { openStage, type Stage } from './stage/stage.ts';

const limitMs = 300_000;
/** Rows a warm-up has: enough for every place to have been taken once. */
const warmUpRows = (parallel: number) => Math.min(200, Math.max(10, parallel));

/** Patchfleet with `places` for attempts over two workers, warmed up; judged at the end. */
export async function withStage<T>(
  one: Case,
  places: number,
  { signal }: BenchContext,
  use: (stage: Stage) => Promise<T>,
): Promise<T> {
  const paths = new Set([
    ...one.rows.flatMap((row, index) => scopeOf(index, row)),
    ...flatGraph(warmUpRows(places)).flatMap((row, index) => scopeOf(index, row)),
  ]);
  await using stage = await openStage({
    files: {
      '.github/patchfleet.yml':
        'review:\n  enabled: false\nfix:\n  max_subtasks: 200\nverify:\n  commands: []\n',
      ...Object.fromEntries([...paths].map((path) => [path, 'export const part = "first";\n'])),
    },
    sandbox: one.sandbox,
    roles: ['serve', 'work', 'work'],
    limits: {
      parallel: Math.ceil(places / 2),
      task_parallel: places,
      task_tokens: 1_000_000_000,
      installation_parallel: 1000,
      fleet_parallel: 1000,
    },
    signal,
  });
  await stage.github.setPermission(stage.repository, 'wilma', 'write');
  await runFix(stage, flatGraph(warmUpRows(places)), 0);
  const result = await use(stage);
  const problems = await stage.problems();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return result;
}

/** A fix of that graph, measured. */
export async function runGraph(stage: Stage, one: Case, rows: readonly GraphRow[]): Promise<FanOutResult> {
  const seen = await runFix(stage, rows, one.unitMs);
  const { subtasks, parallel, idealMs } = one;
  return measureFanOut(seen, await stage.model.calls(), { subtasks, parallel, calls: callsOfRow, idealMs });
}

/** As a maintainer asks for it, up to the end of publishing. */
async function runFix(stage: Stage, rows: readonly GraphRow[], unitMs: number) {
  const { github, model, database, repository } = stage;
  await model.configure(scriptOf(rows, unitMs));
  const { number } = await github.openIssue(repository, { title: 'New parts', author: 'mona' });
  await github.comment(repository, number, { author: 'wilma', body: '/patchfleet fix rewrite every part' });
  const taskId = await stage.until(
    'the fix is finished',
    async () => {
      const { rows: found } = await database.query<{ id: string }>(
        `select id from tasks where number = $1 and phase = 'finished'`,
        [number],
      );
      return found[0]?.id;
    },
    limitMs,
  );
  return readFanOut(database, taskId);
}
