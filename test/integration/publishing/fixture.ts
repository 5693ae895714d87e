import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import { type Finding, fingerprint } from '../../../src/domain/finding.ts';
import type { TaskOutcome, Trigger } from '../../../src/domain/task.ts';
import { createGitHubApp } from '../../../src/github/app.ts';
import { createMirrors } from '../../../src/github/mirror.ts';
import { createPublisher } from '../../../src/publishing/publisher.ts';
import type { JobOptions } from '../../../src/scheduling/port.ts';
import type { Task } from '../../../src/store/port.ts';
import { findings, subtasks, tasks } from '../../../src/store/schema.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { createGitHubDouble } from '../../support/github/create-github-double.ts';
import { git } from '../../support/github/git.ts';

export const repoName = 'octo/shop';

export function finding(line: number, more: Partial<Finding> = {}): Finding {
  return {
    path: 'src/new.ts',
    side: 'RIGHT',
    startLine: line,
    endLine: line,
    severity: 'warning',
    confidence: 1,
    rule: `rule-${line}`,
    title: `Problem at ${line}`,
    body: `Line ${line} is wrong.`,
    quote: `export const value${line} = ${line};`,
    replacement: null,
    ...more,
  };
}

const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => `export const value${index + 1} = ${index + 1};\n`).join('');

/** Publishing on real parts: Postgres, mirrors, the app's own client; GitHub and the queue are doubles. */
export async function openFixture(options: { updateMs?: number } = {}) {
  const database = await openTestDatabase();
  const store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
  const double = await createGitHubDouble();
  const mirrorDir = await mkdtemp(join(tmpdir(), 'publishing-mirrors-'));
  const log = pino({ level: 'silent' });
  const enqueued: { kind: string; id: string; options: JobOptions | undefined }[] = [];
  const queue = {
    enqueue: async (kind: string, id: string, job?: JobOptions) => {
      enqueued.push({ kind, id, options: job });
    },
    enqueueRun: async () => {},
  };
  const repository = await double.createRepository({
    fullName: repoName,
    files: { 'src/old.ts': lines(100), 'README.md': 'A shop.\n' },
  });

  /** One more replica, over the same rows. Mirrors share their directory. */
  const connect = () => {
    const { github } = createGitHubApp({
      appId: double.app.id,
      privateKey: double.app.privateKey,
      webhookSecret: double.app.webhookSecret,
      apiUrl: double.apiUrl,
      log,
      secondMs: 5,
    });
    const mirrors = createMirrors({
      dir: mirrorDir,
      serverUrl: double.serverUrl,
      readToken: (ref) => github.readToken(ref),
    });
    return { github, mirrors };
  };
  const replica = () => {
    const timing = { check_update_ms: options.updateMs ?? 0 };
    const planBounds = { priceOf: () => null, boundsOf: async () => [], taskTokens: 1_000_000 };
    return createPublisher({ store, ...connect(), queue, timing, planBounds, log });
  };

  let branches = 0;
  /** A pull request that adds `src/new.ts` of 400 lines and changes line 50 of `src/old.ts`. */
  const openPull = async (branch = `change-${++branches}`) => {
    const old = lines(100).replace('value50 = 50', 'value50 = 51');
    return double.openPullRequest(repoName, {
      branch,
      files: { 'src/new.ts': lines(400), 'src/old.ts': old },
    });
  };

  const addTask = async (
    pull: { number: number; headSha: string; baseSha: string },
    more: { trigger?: Partial<Trigger>; failure?: Failure; key?: string } = {},
  ): Promise<Task> => {
    const { task } = await store.tasks.create({
      kind: 'review',
      key: more.key ?? `review:${repository.id}:${pull.number}:${pull.headSha}:${randomUUID()}`,
      installationId: repository.installationId,
      repositoryId: repository.id,
      owner: 'octo',
      repo: 'shop',
      number: pull.number,
      headSha: pull.headSha,
      baseSha: pull.baseSha,
      baseRef: 'main',
      title: 'A change',
      body: '',
      trigger: {
        kind: 'pull_request',
        name: 'opened',
        actor: 'mona',
        deliveryId: 'd',
        commentId: null,
        ...more.trigger,
      },
      config: repositoryConfigSchema.parse({}),
      priority: 20,
      failure: more.failure ?? null,
    });
    return task;
  };

  const plan = async (task: Task, shards: number) => {
    const mergeBase = (await git(repository.dir, ['merge-base', task.headSha, task.baseSha]))
      .toString()
      .trim();
    const rows = Array.from({ length: shards }, (_, index) => ({
      title: `src (shard ${index + 1})`,
      agent: 'linter',
      complexity: 10,
      dependsOn: [],
      matrix: {
        goal: '',
        background: '',
        inputs: [`src/file-${index}.ts`],
        writes: [],
        output: '',
        constraints: [],
        verification: '',
        limits: { wallMs: 1000, idleMs: 1000, turns: 1, tokens: 1000 },
      },
    }));
    const facts = { mergeBase, skipped: [{ path: 'logo.png', reason: 'binary' }], filesChanged: shards + 1 };
    await store.tasks.storePlan(task.id, { contract: '', rows }, facts);
  };

  /** The n-th shard reports; null findings: it failed. */
  const finishShard = async (task: Task, row: number, found: readonly Finding[] | Failure) => {
    const all = await database.db.select().from(subtasks).where(eq(subtasks.taskId, task.id));
    const subtask = all.find((candidate) => candidate.row === row);
    if (subtask === undefined) throw new Error(`no row ${row}`);
    const failed = !Array.isArray(found);
    const at = { startedAt: new Date(1_000), finishedAt: new Date(3_500) };
    await database.db
      .update(subtasks)
      .set(failed ? { status: 'failed', failure: found as Failure, ...at } : { status: 'succeeded', ...at })
      .where(eq(subtasks.id, subtask.id));
    if (failed || found.length === 0) return;
    await database.db.insert(findings).values(
      (found as readonly Finding[]).map((one, position) => ({
        ...one,
        id: randomUUID(),
        taskId: task.id,
        subtaskId: subtask.id,
        position,
        agent: 'linter',
        fingerprint: fingerprint(one),
      })),
    );
  };

  const settle = (task: Task, outcome: TaskOutcome, failure: Failure | null = null) =>
    store.tasks.settle(task.id, outcome, failure);

  /** A task with one shard per list of findings, all done. */
  const finishedTask = async (
    pull: { number: number; headSha: string; baseSha: string },
    shards: readonly (readonly Finding[] | Failure)[],
    more: Parameters<typeof addTask>[1] = {},
  ) => {
    const task = await addTask(pull, more);
    await plan(task, shards.length);
    for (const [row, found] of shards.entries()) await finishShard(task, row, found);
    const failed = shards.filter((found) => !Array.isArray(found)).length;
    await settle(task, failed === 0 ? 'succeeded' : failed === shards.length ? 'failed' : 'partial');
    return task;
  };

  const phase = async (task: Task) =>
    (await database.db.select({ phase: tasks.phase }).from(tasks).where(eq(tasks.id, task.id)))[0]?.phase;

  return {
    ...{
      store,
      database,
      connect,
      double,
      repository,
      enqueued,
      replica,
      openPull,
      addTask,
      plan,
      finishShard,
      settle,
    },
    ...{ finishedTask, phase, signal: new AbortController().signal },
    close: async () => {
      await double.close();
      await store.close();
      await database.close().catch(() => {});
      await rm(mirrorDir, { recursive: true, force: true });
    },
  };
}

export type Fixture = Awaited<ReturnType<typeof openFixture>>;
