import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Docker from 'dockerode';
import { labels } from '../../../src/sandbox/container/container-spec.ts';
import { mountsBelow } from '../../../src/sandbox/workspaces/overlay-mount.ts';
import type { Published, StormFacts, TaskFacts } from './facts.ts';
import type { Hold, ModelCall, WorkerKill } from './paid-turns.ts';
import type { AskedTask } from './tasks.ts';
import { stormRepositories } from './tasks.ts';
import type { StormWorld } from './world.ts';

/** Reads what a storm left: rows, GitHub, engines, directories. Nothing is judged here. */

/** Whether nothing is left to do: all that was asked for is finished, and every webhook has been dealt with. */
export async function isQuiet({ postgres, relay }: StormWorld, asked: number): Promise<boolean> {
  if (relay.pending() > 0) return false;
  const counted = await postgres
    .query<{ open: number; tasks: number }>(
      `select (select count(*) from tasks where phase <> 'finished')::int
            + (select count(*) from deliveries where status = 'received')::int as open,
              (select count(*) from tasks)::int as tasks`,
    )
    .catch(() => []);
  const [row] = counted;
  return row !== undefined && row.open === 0 && row.tasks >= asked && relay.pending() === 0;
}

/** Tasks that are not over, and rows of agents that are. Null: the database does not answer, or has no tables yet. */
export async function readProgress({ postgres }: StormWorld): Promise<{ open: number; done: number } | null> {
  const rows = await postgres
    .query<{ open: number; done: number }>(
      `select (select count(*) from tasks where phase <> 'finished')::int as open,
              (select count(*) from subtasks where kind = 'agent' and status not in ('waiting', 'running'))::int as done`,
    )
    .catch(() => []);
  return rows[0] ?? null;
}

/** Containers and volumes of the storm in both engines, and on disk workspaces, mounts and ways out. */
export async function sandboxesLeft({ engine, dataDir }: StormWorld): Promise<string[]> {
  const instance = (await readFile(join(dataDir, 'instance'), 'utf8').catch(() => '')).trim();
  const filters = { label: [`${labels.instance}=${instance}`] };
  const ofOwn = engine === null ? [] : await leftIn(engine.docker, {});
  const ofOthers = instance === '' ? [] : await leftIn(new Docker(), filters);
  const below = async (directory: string) =>
    (await readdir(join(dataDir, directory)).catch(() => [])).map((name) => `${directory}/${name}`);
  const mounts = await mountsBelow(dataDir);
  return [
    ...ofOwn,
    ...ofOthers,
    ...(await below('workspaces')),
    ...(await below('egress')),
    ...mounts.map((point) => `mount ${point}`),
  ];
}

async function leftIn(docker: Docker, filters: { label?: string[] }): Promise<string[]> {
  const containers = await docker.listContainers({ all: true, filters });
  const { Volumes } = await docker.listVolumes({ filters: JSON.stringify(filters) });
  return [
    ...containers.map(({ Id, Status }) => `container ${Id.slice(0, 12)}, ${Status}`),
    // None at all is null.
    ...(Volumes ?? []).map(({ Name }) => `volume ${Name}`),
  ];
}

export async function readFacts(world: StormWorld, asked: readonly AskedTask[]): Promise<StormFacts> {
  const published = await readPublished(world);
  const tasks: TaskFacts[] = [];
  for (const task of asked) tasks.push(await readTask(world, task, published));
  return { tasks, published, sandboxes: await sandboxesLeft(world) };
}

async function readTask(
  { postgres, github }: StormWorld,
  task: AskedTask,
  published: Published,
): Promise<TaskFacts> {
  const { repository, kind, number, headSha } = task;
  const rows = await postgres.query<TaskFacts['rows'][number]>(
    `select id, phase, outcome, failure->>'code' as failure from tasks
      where owner || '/' || repo = $1 and kind = $2 and number = $3 and ($4 = '' or head_sha = $4) order by created_at`,
    [repository, kind, number, headSha],
  );
  const id = rows[0]?.id ?? null;
  const subtasks = await postgres.query<TaskFacts['subtasks'][number]>(
    `select kind, title, status, failure->>'code' as failure from subtasks where task_id = $1 order by row`,
    [id],
  );
  const pull = published.pulls.find(
    (one) => one.repository === repository && one.headRef === `patchfleet/${id}`,
  );
  const files: Record<string, string | null> = {};
  for (const path of Object.keys(task.files))
    files[path] = pull === undefined ? null : await github.fileAt(repository, pull.headRef, path);
  return { rows, subtasks, files };
}

async function readPublished({ github }: StormWorld): Promise<Published> {
  const login = `${github.app.slug}[bot]`;
  const published = { checkRuns: [], reviews: [], comments: [], pulls: [], branches: [] } as {
    -readonly [Key in keyof Published]: Published[Key][number][];
  };
  for (const repository of stormRepositories) {
    for (const run of await github.checkRuns(repository))
      if (run.appId === github.app.id) {
        const { headSha, status, conclusion } = run;
        const annotations = run.annotations.map(
          ({ path, start_line, title }) => `${path}:${start_line} ${title}`,
        );
        published.checkRuns.push({ repository, headSha, status, conclusion, annotations });
      }
    const pulls = await github.pullRequests(repository);
    for (const { number, headRef, author } of pulls)
      if (author === login) published.pulls.push({ repository, number, headRef });
    for (const ref of Object.keys(await github.refs(repository, 'refs/heads/patchfleet/')))
      published.branches.push({ repository, name: ref.replace('refs/heads/', '') });
    for (const { number } of [...(await github.issues(repository)), ...pulls]) {
      for (const { author, body } of await github.comments(repository, number))
        if (author.login === login)
          published.comments.push({ repository, number, marker: body.split('\n')[0] ?? '' });
      for (const { author, comments } of await github.reviews(repository, number))
        if (author.login === login)
          published.reviews.push({
            repository,
            number,
            places: comments.map(({ path, line }) => `${path}:${line}`),
          });
    }
  }
  return published;
}

/** What the judge of paid turns wants to know. */
export async function readTurns({ model, apps, postgres }: StormWorld): Promise<{
  calls: ModelCall[];
  kills: WorkerKill[];
  holds: Hold[];
  plannedAt: Map<string, number | null>;
}> {
  const calls = model.journal().flatMap(({ key, startedAt, status, aborted, mode, subtask, body }) => {
    const answered = status === 200 && !aborted && mode === 'review';
    return body === null ? [] : [{ key, startedAt, answered, subtask, messages: body.messages }];
  });
  const kills = apps.lives.flatMap(({ modelKey, pid, role, end, endedAt }) =>
    role === 'work' && end === 'killed' ? [{ key: modelKey, pid, at: endedAt ?? Date.now() }] : [],
  );
  // A worker is named host-pid-random; a host's name may have hyphens too.
  const attempts = await postgres.query<{
    subtask: string;
    pid: number;
    claimed: Date;
    finished: Date | null;
  }>(
    `select subtask_id as subtask, substring(worker from '-(\\d+)-[0-9a-f]{8}$')::int as pid,
            claimed_at as claimed, finished_at as finished
       from attempts where worker is not null and claimed_at is not null`,
  );
  const planned = await postgres.query<{ id: string; at: Date | null }>(
    'select id, planned_at as at from tasks',
  );
  return {
    calls,
    kills,
    holds: attempts.map(({ subtask, pid, claimed, finished }) => ({
      subtask,
      pid,
      claimedAt: claimed.getTime(),
      finishedAt: finished?.getTime() ?? null,
    })),
    plannedAt: new Map(planned.map(({ id, at }) => [id, at?.getTime() ?? null])),
  };
}
