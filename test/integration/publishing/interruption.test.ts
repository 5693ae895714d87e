import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import type { Task } from '../../../src/store/port.ts';
import { type Fixture, finding, openFixture, repoName } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.close());
afterEach(() => {
  fixture.double.faults.disarm();
  expect(fixture.double.unexpected).toEqual([]);
  expect(fixture.double.violations).toEqual([]);
});

/** A commanded task whose publishing has every kind of write, annotations in three batches included. */
async function commandedTask() {
  const pull = await fixture.openPull();
  const comment = await fixture.double.comment(repoName, pull.number, {
    author: 'mona',
    body: '/patchfleet review',
  });
  const trigger = { kind: 'command', name: 'review', commentId: comment.id } as const;
  const task = await fixture.addTask(pull, { trigger });
  await fixture.plan(task, 1);
  return { pull, task };
}

/** 5 findings on lines of the diff and 105 beside it. */
async function endTask(task: Task) {
  const beside = { path: 'src/old.ts' };
  const many = Array.from({ length: 110 }, (_, index) =>
    finding((index % 40) + 1, { ...(index < 5 ? {} : beside), rule: `r${index}`, title: `Problem ${index}` }),
  );
  await fixture.finishShard(task, 0, many);
  await fixture.settle(task, 'succeeded');
}

/** Everything of ours on GitHub for the pull request. */
async function onGitHub(pull: { number: number; headSha: string }) {
  const { double } = fixture;
  const runs = (await double.checkRuns(repoName)).filter((run) => run.headSha === pull.headSha);
  const comments = await double.comments(repoName, pull.number);
  return {
    runs: runs.map((run) => [run.status, run.conclusion, run.annotations.map((a) => a.title)]),
    reviews: (await double.reviews(repoName, pull.number)).map((review) => review.comments.length),
    replies: comments
      .filter((c) => c.author.type === 'Bot')
      .map((c) => c.body.includes('5 inline, 105 in the body')),
  };
}

const whole = {
  runs: [['completed', 'success', Array.from({ length: 110 }, (_, index) => `Problem ${index}`)]],
  reviews: [5],
  replies: [true],
};

describe('an interrupted publish', () => {
  // Created: run, reply; then review, three updates of the run, the reply.
  it.each([1, 2, 3, 4, 5, 6, 7])(
    'leaves one object of each when write %i is applied but not answered',
    async (k) => {
      const { double, signal } = fixture;
      const { pull, task } = await commandedTask();
      const writes = double.writes().length;
      double.faults.arm(k, 'drop');
      const broken: string[] = [];
      const publish = async () => {
        try {
          await fixture.replica().publish(task.id, signal);
          return true;
        } catch (error) {
          if (!(error instanceof PatchfleetError)) throw error;
          broken.push(error.code);
          return false;
        }
      };
      while (!(await publish())) {}
      await endTask(task);
      while (!(await publish())) {}
      expect(broken).toEqual(['github_unavailable']);
      expect(await onGitHub(pull)).toEqual(whole);
      expect(await fixture.phase(task)).toBe('finished');
      // What only created something is found again; what updates is sent again.
      expect(double.writes().length - writes).toBeLessThanOrEqual(8);
    },
  );

  it.each([
    ['POST /repos/{owner}/{repo}/check-runs'],
    ['POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews'],
    ['PATCH /repos/{owner}/{repo}/check-runs'],
    ['POST /repos/{owner}/{repo}/issues/{issue_number}/comments'],
  ])('finds what a gateway error hid: %s', async (route) => {
    const { double, signal } = fixture;
    const { pull, task } = await commandedTask();
    await endTask(task);
    double.faults.failNext(route, 502, { applied: true });
    await expect(fixture.replica().publish(task.id, signal)).rejects.toMatchObject({
      code: 'github_unavailable',
    });
    await fixture.replica().publish(task.id, signal);
    expect(await onGitHub(pull)).toEqual(whole);
  });

  it('makes one object of each when replicas publish at once', async () => {
    const { signal } = fixture;
    const { pull, task } = await commandedTask();
    const replicas = [fixture.replica(), fixture.replica(), fixture.replica()];
    await Promise.all(replicas.map((replica) => replica.publish(task.id, signal)));
    await endTask(task);
    await Promise.all(replicas.map((replica) => replica.publish(task.id, signal)));
    expect(await onGitHub(pull)).toEqual(whole);
  });

  it('does not take a marker that somebody else wrote for its own', async () => {
    const { double, signal } = fixture;
    const { pull, task } = await commandedTask();
    const { commentId } = task.trigger;
    await double.comment(repoName, pull.number, {
      author: 'mallory',
      body: `<!-- patchfleet:reply:${commentId} -->`,
    });
    await endTask(task);
    double.faults.failNext('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', 502);
    await expect(fixture.replica().publish(task.id, signal)).rejects.toMatchObject({
      code: 'github_unavailable',
    });
    await fixture.replica().publish(task.id, signal);
    expect(await onGitHub(pull)).toEqual(whole);
  });
});

describe('what GitHub refuses', () => {
  it.each([
    ['POST /repos/{owner}/{repo}/check-runs', 403, 'check_run', 2],
    ['POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', 403, 'review', 1],
    ['POST /repos/{owner}/{repo}/issues/{issue_number}/comments', 403, 'comment', 1],
    ['GET /repos/{owner}/{repo}/pulls/{pull_number}', 404, 'review', 1],
  ])('does not stop the rest: %s answers %i', async (route, status, kind, times) => {
    const { double, store, signal } = fixture;
    const { task } = await commandedTask();
    await endTask(task);
    double.faults.failNext(route, status, { times, message: 'This conversation is locked' });
    await fixture.replica().publish(task.id, signal);
    const rows = await store.publications.ofTask(task.id);
    const expected = { check_run: 'done', comment: 'done', review: 'done', [kind]: 'failed' };
    expect(Object.fromEntries(rows.map((row) => [row.kind, row.status]))).toEqual(expected);
    expect(rows.find((row) => row.kind === kind)?.failure?.code).toBe('github_refused');
    expect(await fixture.phase(task)).toBe('finished');
    const asked = double.journal.length;
    await fixture.replica().publish(task.id, signal);
    expect(double.journal.length).toBe(asked);
  });
});
