import { createHash } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { LeftOut } from '../../../src/domain/candidate.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import type { TaskOutcome } from '../../../src/domain/task.ts';
import type { Triage } from '../../../src/domain/triage.ts';
import type { NewTask } from '../../../src/store/port/tasks.ts';
import type { Task } from '../../../src/store/port.ts';
import { candidates, patches, subtasks, tasks, triages } from '../../../src/store/schema.ts';
import { newRow, newTask, planFacts } from '../../support/tasks.ts';
import { openFixture, repoName } from './fixture.ts';

export { repoName };

/** What an agent made of its row: files by path (null: removed), nothing, or a failure. */
export type Work = Readonly<Record<string, string | Buffer | null>> | Failure;

const noVerdict = { passed: true, newFailures: [], knownFailures: [], flaky: [] };

/** Publishing of changes on real parts; what agents and merging would have stored is stored by hand. */
export async function openChangeFixture(options: { updateMs?: number } = {}) {
  const base = await openFixture(options);
  const { database, double, store, repository } = base;
  const { db } = database;
  const ref = { installationId: repository.installationId, id: repository.id, owner: 'octo', name: 'shop' };
  const mirror = await base.connect().mirrors.open(ref);

  let made = 0;
  const addTask = async (more: Partial<NewTask> = {}): Promise<Task> => {
    const { task } = await store.tasks.create({
      ...newTask({
        kind: 'fix',
        key: `fix:${++made}`,
        installationId: ref.installationId,
        repositoryId: ref.id,
        owner: ref.owner,
        repo: ref.name,
        subject: 'issue',
        targetRef: 'main',
        instruction: 'move the strings',
        config: repositoryConfigSchema.parse({}),
      }),
      ...more,
    });
    return task;
  };

  /** A maintainer asks for a fix of an issue by a command. */
  const commanded = async (more: Partial<NewTask> = {}) => {
    const { number } = await double.openIssue(repoName, { title: 'Strings are hard-coded' });
    const comment = await double.comment(repoName, number, { author: 'mona', body: '/patchfleet fix' });
    const trigger = {
      kind: 'command',
      name: 'fix',
      actor: 'mona',
      deliveryId: 'd',
      commentId: comment.id,
    } as const;
    return addTask({ number, trigger, title: 'Strings are hard-coded', ...more });
  };

  /** Rows of agents, one for each entry (its issue, or null), then one integrating row per issue of `per`. */
  const plan = async (
    task: Task,
    agents: readonly (number | null)[],
    per: readonly (number | null)[] = [null],
  ) => {
    const rows = [
      ...agents.map((issue, index) => ({ ...newRow(`row ${index}`), agent: 'fixer', issue })),
      ...per.map((issue) => ({
        ...newRow('integrate'),
        kind: 'integrate' as const,
        waitsFor: 'end' as const,
        issue,
        dependsOn: agents.map((_, index) => index),
      })),
    ];
    await store.tasks.storePlan(task.id, { contract: '', rows }, planFacts);
  };

  const rowOf = async (task: Task, row: number) => {
    const found = await db.select().from(subtasks).where(eq(subtasks.taskId, task.id));
    const subtask = found.find((one) => one.row === row);
    if (subtask === undefined) throw new Error(`no row ${row}`);
    return subtask;
  };
  const end = (id: string, set: Partial<typeof subtasks.$inferInsert>) =>
    db
      .update(subtasks)
      .set({ startedAt: new Date(1_000), finishedAt: new Date(2_000), ...set })
      .where(eq(subtasks.id, id));

  const changesOf = (work: Exclude<Work, Failure>) =>
    Object.entries(work).map(([path, content]) => ({
      path,
      file: content === null ? null : { mode: '100644' as const, content: Buffer.from(content) },
    }));

  const finishRow = async (task: Task, row: number, work: Work, summary = `Did row ${row}.`) => {
    const { id } = await rowOf(task, row);
    if (isFailure(work)) {
      await end(id, { status: 'failed', failure: work });
      return;
    }
    await end(id, { status: 'succeeded', summary });
    if (Object.keys(work).length === 0) return;
    const target = (await mirror.fetchBranch('main', base.signal)) ?? '';
    const tree = await mirror.writeTree(target, changesOf(work));
    const commit = await mirror.commitTree(tree, [target], 'Patch');
    await db.insert(patches).values({
      ...{ subtaskId: id, taskId: task.id, baseCommit: target, tree, commit },
      entries: await mirror.compareTrees(target, commit),
      digest: createHash('sha256').update(commit).digest('hex'),
      verdict: noVerdict,
    });
  };

  /** What merging would store: the work on top of `onto` (default: the target's present head). */
  const integrate = async (
    task: Task,
    row: number,
    work: Exclude<Work, Failure>,
    more: { merged?: readonly number[]; leftOut?: readonly [number, string, string][]; onto?: string } = {},
  ) => {
    const { id } = await rowOf(task, row);
    const onto = more.onto ?? (await mirror.fetchBranch(task.targetRef, base.signal)) ?? '';
    const tree = Object.keys(work).length === 0 ? null : await mirror.writeTree(onto, changesOf(work));
    const leftOut: LeftOut[] = [];
    for (const [left, code, reason] of more.leftOut ?? []) {
      leftOut.push({ subtaskId: (await rowOf(task, left)).id, row: left, code, reason, against: null });
    }
    const candidate = {
      targetSha: onto,
      tree,
      commit: tree === null ? null : await mirror.commitTree(tree, [onto], 'Candidate'),
      merged: [...(more.merged ?? [])],
      leftOut,
      verdict: noVerdict,
      checks: ['npm test'],
      verifications: 1,
    };
    const [known] = await db.select().from(candidates).where(eq(candidates.subtaskId, id));
    const values = { subtaskId: id, taskId: task.id, candidate, rounds: known?.rounds ?? 1 };
    await db
      .insert(candidates)
      .values(values)
      .onConflictDoUpdate({ target: candidates.subtaskId, set: values });
    await end(id, { status: 'succeeded' });
    return candidate;
  };

  const settle = (task: Task, outcome: TaskOutcome = 'succeeded', failure: Failure | null = null) =>
    store.tasks.settle(task.id, outcome, failure);

  const triaged = async (task: Task, triage: Triage) => {
    await store.tasks.storePlan(task.id, { contract: '', rows: [newRow('triage')] }, planFacts);
    const { id } = await rowOf(task, 0);
    await end(id, { status: 'succeeded' });
    await db.insert(triages).values({ subtaskId: id, taskId: task.id, triage });
    await settle(task);
  };

  const publish = (task: Task) => base.replica().publish(task.id, base.signal);
  /** Again and again until it goes through; returns how often it did not. */
  const publishStubbornly = async (task: Task) => {
    for (let broken = 0; ; broken += 1) {
      try {
        await publish(task);
        return broken;
      } catch (error) {
        if (!(error instanceof PatchfleetError) || error.code !== 'github_unavailable') throw error;
      }
    }
  };

  const phase = async (task: Task) =>
    (await db.select({ phase: tasks.phase }).from(tasks).where(eq(tasks.id, task.id)))[0]?.phase;
  const pulls = async () =>
    (await double.pullRequests(repoName)).filter(({ author }) => author === 'patchfleet[bot]');
  const pullsOf = async (task: Task) => (await pulls()).filter(({ headRef }) => headRef.includes(task.id));
  const branches = (task: Task) => double.refs(repoName, `refs/heads/patchfleet/${task.id}`);
  const ours = async (number: number) =>
    (await double.comments(repoName, number))
      .filter(({ author }) => author.type === 'Bot')
      .map(({ body }) => body);

  return {
    ...base,
    ...{
      ref,
      mirror,
      addTask,
      commanded,
      plan,
      finishRow,
      integrate,
      settle,
      triaged,
      publish,
      publishStubbornly,
    },
    ...{ phase, pulls, pullsOf, branches, ours, rowOf },
  };
}

function isFailure(work: Work): work is Failure {
  return typeof (work as Failure).code === 'string' && typeof (work as Failure).detail === 'string';
}

export type ChangeFixture = Awaited<ReturnType<typeof openChangeFixture>>;
