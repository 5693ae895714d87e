import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { chooseFiles, commandOf, firstLine, kinds, mix } from './real-code/analysers.ts';
import { type CodeBase, readCodeBases } from './real-code/code-bases.ts';
import { type LoadAttempt, measureLoad } from './real-code/figures.ts';
import { type Bench, isAsked, renderTable, rounded, seconds } from './result.ts';
import { watchProcesses } from './stage/processes.ts';
import { openStage, type Stage } from './stage/stage.ts';

/** Of each code base. */
const subtasks = 20;
const filesEach = 5;
const workers = 3;
const placesEach = 2;
const limitMs = 600_000;
const sampleMs = 200;

/**
 * Reviews of large changes of code that others wrote, by analysers that are no model, in containers, by three workers
 * that share the work: how long an attempt takes, what fails, and whether the workers really work at once.
 */
export const realCode: Bench = async (context) => {
  const { say, signal } = context;
  await using opened = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'bench-code-'));
  opened.defer(() => rm(dir, { recursive: true, force: true }));
  say('downloading and reading the code');
  const bases = (await readCodeBases(dir)).filter(({ name }) => isAsked(name, context));
  const stage = opened.use(
    await openStage({
      files: { 'README.md': '# Nothing\n' },
      sandbox: 'docker',
      roles: ['serve', ...Array.from({ length: workers }, () => 'work' as const)],
      limits: {
        parallel: placesEach,
        task_parallel: workers * placesEach,
        shard_files: filesEach,
        shard_complexity: 1_000_000,
      },
      agents: [{ name: 'unused', kind: 'command', command: ['true'], format: 'lines' }],
      signal,
    }),
  );
  const pulls = [];
  for (const base of bases) pulls.push(await prepare(stage, base));
  const working = stage.apps.filter(({ role }) => role === 'work').map(({ pid }) => pid);
  say(`${bases.length * subtasks} subtasks over ${bases.map(({ name }) => name).join(', ')}`);
  const watch = watchProcesses(working, sampleMs);
  const began = performance.now();
  for (const open of pulls) await open();
  await stage.until(
    'the reviews are finished',
    finishedReviews(stage, pulls.length * kinds.length, say),
    limitMs,
  );
  const wallMs = Math.round(performance.now() - began);
  const series = watch.stop();
  const attempts = await readAttempts(stage);
  const problems = await stage.problems();
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const figures = measureLoad(
    attempts,
    working.map((pid) => ({ pid, samples: series.get(pid) ?? [] })),
  );
  const json = {
    codeBases: bases.map(({ name, files }) => ({
      name,
      files: files.size,
      mib: rounded([...files.values()].reduce((sum, text) => sum + text.length, 0) / 1024 ** 2),
    })),
    wantedMix: mix,
    wallMs,
    ...figures,
  };
  return { json, text: render(json) };
};

/**
 * A repository with that code; gives what opens the pull requests that change it, one for each kind: a shard is cut
 * from the files of one pull request, and each agent that has files in it makes a subtask.
 */
async function prepare(stage: Stage, base: CodeBase): Promise<() => Promise<void>> {
  const chosen = chooseFiles(base, subtasks, filesEach);
  const fullName = `tea/${base.name}`;
  const config = {
    review: { agents: [...kinds], fail_on: 'never' },
    commands: kinds.map((kind) => ({
      name: kind,
      kind: 'command',
      command: commandOf(kind, base.language),
      format: 'lines',
      files: chosen[kind].map((path) => path.replaceAll(/[[\](){}!*?+@]/g, '\\$&')),
    })),
  };
  await stage.github.createRepository({
    fullName,
    files: { ...Object.fromEntries(base.files), '.github/patchfleet.yml': stringify(config) },
  });
  return async () => {
    for (const kind of kinds) {
      const files = Object.fromEntries(
        chosen[kind].map((path) => [path, `${firstLine[base.language]}${base.files.get(path) ?? ''}`]),
      );
      const title = `Look at it: ${kind}`;
      await stage.github.openPullRequest(fullName, { branch: `look-${kind}`, title, files });
    }
  };
}

/** Asks whether all are finished, and tells how far they are. Fails where one failed. */
function finishedReviews({ database }: Stage, tasks: number, say: (line: string) => void) {
  let told = 0;
  return async (): Promise<boolean> => {
    const { rows: over } = await database.query<{ count: number }>(
      'select count(*)::int as count from attempts where finished_at is not null',
    );
    const count = over[0]?.count ?? 0;
    if (count >= told + 10) {
      told = count;
      say(`${count} attempts are over`);
    }
    const { rows } = await database.query<{ phase: string; outcome: string | null; failure: unknown }>(
      'select phase, outcome, failure from tasks',
    );
    const bad = rows.find(({ outcome }) => outcome === 'failed');
    if (bad !== undefined) throw new Error(`a review failed: ${JSON.stringify(bad.failure)}`);
    return rows.length === tasks && rows.every(({ phase }) => phase === 'finished');
  };
}

async function readAttempts({ database }: Stage): Promise<LoadAttempt[]> {
  const { rows } = await database.query<LoadAttempt>(
    `select s.agent, a.status, a.worker, a.container_id as "containerId", a.claimed_at as "claimedAt",
            a.agent_started_at as "agentStartedAt", a.finished_at as "finishedAt"
       from attempts a join subtasks s on s.id = a.subtask_id order by a.claimed_at`,
  );
  return rows;
}

function render(json: ReturnType<typeof measureLoad> & { readonly wallMs: number }): string {
  const { signs } = json;
  const lines = [
    `${json.attempts} attempts in ${seconds(json.wallMs)}, ${json.maxConcurrent} at once; p95 ${seconds(json.p95Ms)}, error rate ${json.errorRate}`,
    `uneven CPU ${signs.unevenCpu.maxOverMean}, largest memory step ${signs.memorySpikes.largestStep}, duplicate sessions ${signs.sessionIds.duplicates}`,
  ];
  const perKind = Object.entries(json.byKind).map(([kind, one]) => [
    kind,
    String(one.attempts),
    one.share.toFixed(2),
    seconds(one.p50Ms),
    seconds(one.p95Ms),
  ]);
  const perWorker = json.workers.map((one, index) => [
    `worker ${index + 1}`,
    String(one.attempts),
    seconds(one.cpuMs),
    `${one.rssMiB.min}-${one.rssMiB.max} MiB`,
  ]);
  return [
    lines.join('\n'),
    renderTable([['kind', 'attempts', 'share', 'median', 'p95'], ...perKind], 1),
    renderTable([['worker', 'attempts', 'CPU', 'memory'], ...perWorker], 1),
  ].join('\n\n');
}
