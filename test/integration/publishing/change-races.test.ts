import { eq } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { NewTask } from '../../../src/store/port/tasks.ts';
import type { Task } from '../../../src/store/port.ts';
import { candidates } from '../../../src/store/schema.ts';
import { type ChangeFixture, openChangeFixture, repoName } from './change-fixture.ts';

let fixture: ChangeFixture;
beforeAll(async () => {
  fixture = await openChangeFixture();
});
afterAll(() => fixture?.close());
afterEach(() => {
  fixture.double.faults.disarm();
  expect(fixture.double.unexpected).toEqual([]);
  expect(fixture.double.violations).toEqual([]);
});

const work = { 'src/fixed.ts': 'fixed\n' };

/** A commanded fix with a verified candidate, about to be published. */
async function ready(more: Partial<NewTask> = {}): Promise<Task> {
  const task = await fixture.commanded(more);
  await fixture.plan(task, [null]);
  await fixture.finishRow(task, 0, work);
  await fixture.integrate(task, 1, work, { merged: [0] });
  await fixture.settle(task);
  return task;
}

let pushes = 0;
const push = (branch = 'main') =>
  fixture.double.push(repoName, {
    branch,
    files: { [`other-${++pushes}.txt`]: 'x\n' },
    message: 'Other work',
  });

/** Does something once, right after a write to that route took effect. */
function onceAfter(route: string, act: () => Promise<unknown>) {
  let due = true;
  return fixture.double.faults.onWrite(async (entry) => {
    if (!due || !`${entry.method} ${entry.path}`.includes(route)) return;
    due = false;
    await act();
  });
}

describe('a target that moved', () => {
  it('is integrated again, and what comes out then is published', async () => {
    const { double, enqueued } = fixture;
    const task = await ready();
    const { sha } = await push();
    const writes = double.writes().length;
    enqueued.length = 0;
    await fixture.publish(task);
    expect(double.writes().length).toBe(writes);
    expect(await fixture.phase(task)).toBe('running');
    expect((await fixture.rowOf(task, 1)).status).toBe('waiting');
    expect(enqueued.map(({ kind, id }) => [kind, id])).toEqual([['advance', task.id]]);
    await fixture.publish(task);
    expect(await fixture.ours(task.number)).toEqual([expect.stringContaining('The target moved')]);
    const { tree } = await fixture.integrate(task, 1, work, { merged: [0] });
    await fixture.settle(task);
    await fixture.publish(task);
    const commit = await double.commitAt(repoName, `refs/heads/patchfleet/${task.id}`);
    expect([commit?.tree, commit?.parents]).toEqual([tree, [sha]]);
    expect((await fixture.pullsOf(task)).length).toBe(1);
  });

  it('is told of where the result conflicts with it', async () => {
    const task = await ready();
    await push();
    await fixture.publish(task);
    await fixture.integrate(
      task,
      1,
      {},
      { leftOut: [[0, 'conflict', 'conflicts with main in src/fixed.ts']] },
    );
    await fixture.settle(task);
    await fixture.publish(task);
    expect(await fixture.pullsOf(task)).toEqual([]);
    expect(await fixture.ours(task.number)).toEqual([
      expect.stringContaining('conflicts with main in src/fixed.ts'),
    ]);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('is noticed when it moves while objects are written', async () => {
    const task = await ready();
    const off = onceAfter('/git/commits', () => push());
    await fixture.publish(task);
    off();
    expect(await fixture.branches(task)).toEqual({});
    expect(await fixture.phase(task)).toBe('running');
    await fixture.integrate(task, 1, work, { merged: [0] });
    await fixture.settle(task);
    await fixture.publish(task);
    expect((await fixture.pullsOf(task)).length).toBe(1);
  });

  it('is given up after five rounds, by name', async () => {
    const task = await ready();
    for (let round = 1; round < 5; round += 1) {
      await push();
      await fixture.publish(task);
      expect(await fixture.phase(task)).toBe('running');
      await fixture.integrate(task, 1, work, { merged: [0] });
      await fixture.settle(task);
    }
    await push();
    await fixture.publish(task);
    expect(await fixture.phase(task)).toBe('finished');
    expect(await fixture.branches(task)).toEqual({});
    expect(await fixture.ours(task.number)).toEqual([expect.stringContaining('`target_moving`')]);
  });

  it('is integrated again where a head was force-pushed', async () => {
    const { double } = fixture;
    const pull = await fixture.openPull('forced');
    const subject = { subject: 'pull_request', number: pull.number, targetRef: 'forced' } as const;
    const task = await ready(subject);
    const parent = fixture.repository.headSha ?? '';
    await double.pushToPullRequest(repoName, pull.number, {
      parent,
      files: { 'src/again.ts': 'y\n' },
      message: 'f',
    });
    await fixture.publish(task);
    expect(await fixture.phase(task)).toBe('running');
    expect(await fixture.branches(task)).toEqual({});
  });

  it('is gone: nothing is published, and why is said', async () => {
    const { double, repository } = fixture;
    await double.setBranch(repoName, 'release', repository.headSha ?? '');
    const task = await ready({ targetRef: 'release' });
    await double.deleteBranch(repoName, 'release');
    await fixture.publish(task);
    expect(await fixture.branches(task)).toEqual({});
    expect(await fixture.ours(task.number)).toEqual([
      expect.stringContaining('**No pull request.** The branch release is gone'),
    ]);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('goes between the branch and the pull request: the branch is named', async () => {
    const { double, repository } = fixture;
    await double.setBranch(repoName, 'release-2', repository.headSha ?? '');
    const task = await ready({ targetRef: 'release-2' });
    const off = onceAfter('/git/refs', () => double.deleteBranch(repoName, 'release-2'));
    await fixture.publish(task);
    off();
    expect(await fixture.pullsOf(task)).toEqual([]);
    const [comment] = await fixture.ours(task.number);
    expect(comment).toContain(`for the branch patchfleet/${task.id}`);
    expect(await fixture.phase(task)).toBe('finished');
  });
});

describe('the head of a fork that moved', () => {
  it('is integrated again; the patch is for the new head', async () => {
    const { double, mirror, signal } = fixture;
    const pull = await double.openPullRequest(repoName, {
      branch: 'theirs',
      fork: 'mallory',
      files: { 'f.ts': 'f\n' },
    });
    const fetch = (headSha: string) => mirror.fetchPullRequest(pull.number, headSha, pull.baseSha, signal);
    await fetch(pull.headSha);
    const task = await fixture.addTask({
      ...{ subject: 'pull_request', number: pull.number, targetRef: 'theirs', fork: true },
    });
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, work);
    await fixture.integrate(task, 1, work, { merged: [0], onto: pull.headSha });
    await fixture.settle(task);
    const { headSha } = await double.pushToPullRequest(repoName, pull.number, { files: { 'g.ts': 'g\n' } });
    await fixture.publish(task);
    expect([await fixture.phase(task), await fixture.ours(pull.number)]).toEqual(['running', []]);
    await fetch(headSha);
    await fixture.integrate(task, 1, work, { merged: [0], onto: headSha });
    await fixture.settle(task);
    await fixture.publish(task);
    const [patch, told] = await fixture.ours(pull.number);
    expect(patch).toContain(`The patch for ${headSha.slice(0, 12)}`);
    expect(told).toContain('the patch is in [a comment](');
    expect(await fixture.phase(task)).toBe('finished');
  });
});

describe('a candidate that this mirror lacks', () => {
  it('is made again, and given up by name in the end', async () => {
    const { database } = fixture;
    const task = await ready();
    const lose = async (rounds: number) => {
      const [row] = await database.db.select().from(candidates).where(eq(candidates.taskId, task.id));
      if (row === undefined) throw new Error('no candidate');
      const candidate = { ...row.candidate, commit: 'e'.repeat(40) };
      await database.db.update(candidates).set({ candidate, rounds }).where(eq(candidates.taskId, task.id));
    };
    await lose(1);
    await fixture.publish(task);
    expect(await fixture.phase(task)).toBe('running');
    await fixture.integrate(task, 1, work, { merged: [0] });
    await lose(5);
    await fixture.settle(task);
    await fixture.publish(task);
    expect(await fixture.phase(task)).toBe('finished');
    expect(await fixture.ours(task.number)).toEqual([expect.stringContaining('is not in this mirror')]);
  });
});

describe('a branch that is there already', () => {
  it('is left as it is where it holds something else', async () => {
    const { double } = fixture;
    const task = await ready();
    const branch = `patchfleet/${task.id}`;
    const { sha } = await push(branch);
    await fixture.publish(task);
    expect(await fixture.branches(task)).toEqual({ [`refs/heads/${branch}`]: sha });
    expect(await fixture.pullsOf(task)).toEqual([]);
    const [comment] = await fixture.ours(task.number);
    expect(comment?.replaceAll('\\', '')).toContain(`The branch ${branch} exists and holds something else`);
    expect(double.writes().at(-1)?.path).toContain('/comments');
  });

  it('is adopted where it is the verified tree on the verified base', async () => {
    const { double } = fixture;
    const task = await fixture.commanded();
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, work);
    const { targetSha } = await fixture.integrate(task, 1, work, { merged: [0] });
    await fixture.settle(task);
    const branch = `patchfleet/${task.id}`;
    await double.setBranch(repoName, branch, targetSha);
    const { sha } = await double.push(repoName, { branch, files: work, message: 'The same' });
    await fixture.publish(task);
    expect(await fixture.branches(task)).toEqual({ [`refs/heads/${branch}`]: sha });
    expect((await fixture.pullsOf(task)).map(({ headSha }) => headSha)).toEqual([sha]);
  });
});

describe('what somebody closed, locked or deleted meanwhile', () => {
  it.each(['issue', 'pull_request'] as const)(
    'a closed %s gets no pull request, and the reason',
    async (subject) => {
      const { double } = fixture;
      const task =
        subject === 'issue'
          ? await ready()
          : await (async () => {
              const pull = await fixture.openPull('to-be-closed');
              return ready({ subject, number: pull.number, targetRef: 'to-be-closed' });
            })();
      await double.closeIssue(repoName, task.number);
      await fixture.publish(task);
      expect(await fixture.branches(task)).toEqual({});
      const noun = subject === 'issue' ? 'issue' : 'pull request';
      expect(await fixture.ours(task.number)).toEqual([
        expect.stringContaining(`The ${noun} ${task.number} was closed meanwhile.`),
      ]);
      expect(await fixture.phase(task)).toBe('finished');
    },
  );

  it('a pull request of ours that was closed is not opened again', async () => {
    const { double } = fixture;
    const task = await ready();
    const off = onceAfter('/pulls', async () => {
      const [pull] = await fixture.pullsOf(task);
      await double.closePullRequest(repoName, pull?.number ?? 0);
    });
    double.faults.failNext('POST /repos/{owner}/{repo}/pulls', 502, { applied: true });
    expect(await fixture.publishStubbornly(task)).toBeGreaterThan(0);
    off();
    expect((await fixture.pullsOf(task)).map(({ state }) => state)).toEqual(['closed']);
    expect(await fixture.ours(task.number)).toEqual([expect.stringContaining('it was not opened again')]);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it.each([
    ['a locked issue', (task: Task) => fixture.double.lockIssue(repoName, task.number), 'failed', 0],
    [
      'a deleted command',
      (task: Task) => fixture.double.deleteComment(repoName, task.trigger.commentId ?? 0),
      'done',
      1,
    ],
  ] as const)('%s stops the comment at most', async (_, act, status, comments) => {
    const task = await ready();
    await act(task);
    await fixture.publish(task);
    expect((await fixture.pullsOf(task)).length).toBe(1);
    const row = await fixture.store.publications.get(`reply:${task.trigger.commentId}`);
    expect(row?.status).toBe(status);
    expect((await fixture.ours(task.number)).length).toBe(comments);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('a comment of ours that was deleted is not written again', async () => {
    const { double, store } = fixture;
    const task = await fixture.commanded();
    await fixture.publish(task);
    await double.deleteComment(
      repoName,
      (await store.publications.get(`reply:${task.trigger.commentId}`))?.githubId ?? 0,
    );
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, work);
    await fixture.integrate(task, 1, work, { merged: [0] });
    await fixture.settle(task);
    await fixture.publish(task);
    expect((await fixture.pullsOf(task)).length).toBe(1);
    expect(await fixture.ours(task.number)).toEqual([]);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('a deleted issue is told of in the rows', async () => {
    const { double, store } = fixture;
    const task = await ready();
    await double.deleteIssue(repoName, task.number);
    await fixture.publish(task);
    expect(await fixture.phase(task)).toBe('finished');
    const rows = await store.publications.ofTask(task.id);
    expect(rows.map((row) => [row.kind, row.status, row.failure?.detail.split(':')[0]])).toEqual([
      ['branch', 'failed', `the issue ${task.number} is gone`],
      ['comment', 'failed', 'the comment could not be written'],
    ]);
  });
});

describe('a tree that is not the verified one', () => {
  it('is never published', async () => {
    const { database } = fixture;
    const task = await fixture.commanded();
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, work);
    const candidate = await fixture.integrate(task, 1, work, { merged: [0] });
    await database.db
      .update(candidates)
      .set({ candidate: { ...candidate, tree: 'f'.repeat(40) } })
      .where(eq(candidates.taskId, task.id));
    await fixture.settle(task);
    await fixture.publish(task);
    expect(await fixture.branches(task)).toEqual({});
    expect(await fixture.ours(task.number)).toEqual([expect.stringContaining('not ffff')]);
    expect(await fixture.phase(task)).toBe('finished');
  });
});
