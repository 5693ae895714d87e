import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, finding, openFixture, repoName } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture?.close());
afterEach(() => {
  expect(fixture.double.unexpected).toEqual([]);
  expect(fixture.double.violations).toEqual([]);
});

const down = { code: 'model_unavailable', detail: '500 from @everyone | `x`' } as const;

describe('publishing a task', () => {
  it('takes the check run from queued over in progress to one conclusion, with one review', async () => {
    const { double, store, signal } = fixture;
    const publisher = fixture.replica();
    const pull = await fixture.openPull();
    const task = await fixture.addTask(pull);
    await publisher.publish(task.id, signal);
    const states: unknown[] = [];
    const look = async () => {
      const runs = (await double.checkRuns(repoName)).filter((run) => run.headSha === pull.headSha);
      states.push(runs.map((run) => [run.name, run.status, run.conclusion, run.title]));
      return runs[0];
    };
    await look();
    await fixture.plan(task, 2);
    await publisher.publish(task.id, signal);
    await look();
    await fixture.finishShard(task, 0, [finding(3, { replacement: 'export const value3 = 4;' })]);
    await fixture.finishShard(task, 1, [finding(10, { path: 'src/old.ts', severity: 'error' })]);
    await fixture.settle(task, 'succeeded');
    await publisher.publish(task.id, signal);
    const run = await look();
    expect(states).toEqual([
      [['Patchfleet', 'queued', null, 'Planning the review']],
      [['Patchfleet', 'in_progress', null, 'Reviewing: 0 of 2 shards done']],
      [['Patchfleet', 'completed', 'failure', '2 findings (1 error, 1 warning)']],
    ]);
    expect(run?.externalId).toBe(`check:${task.repositoryId}:${task.headSha}`);
    expect(run?.summary).toContain('1 inline, 1 in the body');
    expect(run?.summary).toContain(task.id);
    expect(run?.annotations.map((a) => [a.path, a.start_line, a.annotation_level])).toEqual([
      ['src/new.ts', 3, 'warning'],
      ['src/old.ts', 10, 'failure'],
    ]);
    const [review, ...more] = await double.reviews(repoName, pull.number);
    expect(more).toEqual([]);
    expect(review?.state).toBe('COMMENTED');
    expect(review?.comments.map(({ path, line, side }) => ({ path, line, side }))).toEqual([
      { path: 'src/new.ts', line: 3, side: 'RIGHT' },
    ]);
    expect(review?.comments[0]?.body).toContain('```suggestion\nexport const value3 = 4;\n```');
    expect(review?.body).toContain('`src/old.ts` line 10');
    expect(await fixture.phase(task)).toBe('finished');
    expect((await store.publications.ofTask(task.id)).map((row) => [row.kind, row.status])).toEqual([
      ['check_run', 'done'],
      ['review', 'done'],
    ]);
  });

  it('writes nothing when a finished task is published again, by any replica', async () => {
    const { double, signal } = fixture;
    const pull = await fixture.openPull();
    const { id: commentId } = await double.comment(repoName, pull.number, {
      author: 'mona',
      body: '/patchfleet review',
    });
    const trigger = { kind: 'command', name: 'review', commentId } as const;
    const task = await fixture.finishedTask(pull, [[finding(1)], down], { trigger });
    await fixture.replica().publish(task.id, signal);
    const before = double.writes().length;
    const asked = double.journal.length;
    await fixture.replica().publish(task.id, signal);
    expect(double.writes().length).toBe(before);
    expect(double.journal.length).toBe(asked);
  });

  it('sends 120 annotations in batches of 50, each exactly once', async () => {
    const { double, signal } = fixture;
    const pull = await fixture.openPull();
    const many = Array.from({ length: 120 }, (_, index) => finding(index + 1));
    const task = await fixture.finishedTask(pull, [many]);
    const from = double.journal.length;
    await fixture.replica().publish(task.id, signal);
    const batches = double.journal
      .slice(from)
      .filter((entry) => entry.method === 'PATCH')
      .map((entry) => {
        const body = entry.body as { conclusion?: string; output: { annotations: unknown[] } };
        return [body.output.annotations.length, body.conclusion ?? null];
      });
    expect(batches).toEqual([
      [50, null],
      [50, null],
      [20, 'success'],
    ]);
    const [run] = (await double.checkRuns(repoName)).filter((r) => r.headSha === pull.headSha);
    expect(new Set(run?.annotations.map((a) => a.start_line)).size).toBe(120);
    const [review] = await double.reviews(repoName, pull.number);
    expect(review?.comments.length).toBe(100);
    expect(review?.body).toContain('20 not on a line of the diff');
  });

  it('moves all findings to the body when GitHub refuses an anchor', async () => {
    const { double, signal } = fixture;
    const pull = await fixture.openPull();
    const task = await fixture.finishedTask(pull, [[finding(1), finding(2)]]);
    double.faults.failNext('/reviews', 422, { message: 'Unprocessable Entity' });
    // The look before the write asks for the pull request, not its reviews: the first hit is the POST.
    await fixture.replica().publish(task.id, signal);
    const reviews = await double.reviews(repoName, pull.number);
    expect(reviews.map((review) => review.comments.length)).toEqual([0]);
    expect(reviews[0]?.body).toContain('`src/new.ts` line 2');
    const [run] = (await double.checkRuns(repoName)).filter((r) => r.headSha === pull.headSha);
    expect(run?.summary).toContain('0 inline, 2 in the body');
  });

  it('leaves out what an earlier review of the pull request showed', async () => {
    const { double, signal } = fixture;
    const publisher = fixture.replica();
    const pull = await fixture.openPull();
    const first = await fixture.finishedTask(pull, [[finding(1), finding(2)]]);
    await publisher.publish(first.id, signal);
    const second = await fixture.finishedTask(pull, [[finding(2), finding(3)]]);
    await publisher.publish(second.id, signal);
    const third = await fixture.finishedTask(pull, [[finding(3)]]);
    await publisher.publish(third.id, signal);
    const reviews = await double.reviews(repoName, pull.number);
    expect(reviews.map((review) => review.comments.map((c) => c.line))).toEqual([[1, 2], [3]]);
    expect(reviews[1]?.body).toContain('1 finding of an earlier review is not repeated');
    const runs = (await double.checkRuns(repoName)).filter((r) => r.headSha === pull.headSha);
    expect(runs.map((run) => [run.status, run.annotations.map((a) => a.start_line)])).toEqual([
      ['completed', [1, 2, 3]],
    ]);
    expect(runs[0]?.summary).toContain('No review was posted: 1 finding of an earlier review not repeated');
  });

  it.each([
    ['a newer commit', 'the pull request has a newer commit'],
    ['a closed pull request', 'the pull request was closed meanwhile'],
  ])('posts no review for %s and says so', async (what, reason) => {
    const { double, signal } = fixture;
    const pull = await fixture.openPull();
    const task = await fixture.finishedTask(pull, [[finding(1)]]);
    if (what === 'a newer commit') {
      await double.pushToPullRequest(repoName, pull.number, { files: { 'src/more.ts': 'x\n' } });
    } else await double.updatePullRequest(repoName, pull.number, { state: 'closed' });
    await fixture.replica().publish(task.id, signal);
    expect(await double.reviews(repoName, pull.number)).toEqual([]);
    const [run] = (await double.checkRuns(repoName)).filter((r) => r.headSha === pull.headSha);
    expect(run?.summary).toContain(reason);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('shares one run between two pull requests of one head', async () => {
    const { double, signal } = fixture;
    const publisher = fixture.replica();
    const one = await fixture.openPull('shared-head');
    const two = await double.openPullRequest(repoName, { branch: 'shared-head', base: 'main' });
    expect(two.headSha).toBe(one.headSha);
    const first = await fixture.finishedTask(one, [[finding(1)]]);
    const second = await fixture.addTask(two);
    await fixture.plan(second, 1);
    await publisher.publish(first.id, signal);
    const look = async () =>
      (await double.checkRuns(repoName))
        .filter((r) => r.headSha === one.headSha)
        .map((r) => [r.status, r.conclusion, r.summary?.match(/## Pull request #\d+/g)?.length]);
    expect(await look()).toEqual([['in_progress', null, 2]]);
    expect(await fixture.phase(first)).toBe('finished');
    await fixture.finishShard(second, 0, down);
    await fixture.settle(second, 'failed');
    await publisher.publish(second.id, signal);
    expect(await look()).toEqual([['completed', 'failure', 2]]);
  });

  it('names what failed in the check run, and claims nothing when every shard failed', async () => {
    const { double, signal } = fixture;
    const pull = await fixture.openPull();
    const task = await fixture.finishedTask(pull, [down, down]);
    await fixture.replica().publish(task.id, signal);
    expect(await double.reviews(repoName, pull.number)).toEqual([]);
    const [run] = (await double.checkRuns(repoName)).filter((r) => r.headSha === pull.headSha);
    expect([run?.conclusion, run?.title]).toEqual(['failure', 'The review failed: all 2 shards']);
    expect(run?.summary).toContain('model_unavailable');
    expect(run?.summary).not.toContain('@everyone');
  });

  it.each([
    { what: 'a broken repository file', code: 'config_invalid' },
    { what: 'an image that is not allowed', code: 'image_refused' },
  ] as const)('concludes $what as action required', async ({ code }) => {
    const { double, signal } = fixture;
    const pull = await fixture.openPull();
    const failure = { code, detail: 'line 3: review.fail_on' };
    const task = await fixture.addTask(pull, { failure });
    await fixture.replica().publish(task.id, signal);
    const [run] = (await double.checkRuns(repoName)).filter((r) => r.headSha === pull.headSha);
    expect(run?.conclusion).toBe('action_required');
    expect(run?.summary).toContain('line 3: review.fail');
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('makes a new check run when GitHub says that the old one is gone', async () => {
    const { double, store, signal } = fixture;
    const publisher = fixture.replica();
    const pull = await fixture.openPull();
    const task = await fixture.addTask(pull);
    await publisher.publish(task.id, signal);
    await fixture.plan(task, 1);
    await fixture.finishShard(task, 0, [finding(1)]);
    await fixture.settle(task, 'succeeded');
    double.faults.failNext('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', 404, {
      message: 'Not Found',
    });
    await publisher.publish(task.id, signal);
    const runs = (await double.checkRuns(repoName)).filter((run) => run.headSha === pull.headSha);
    // The double only said so: the first one is still there, as it was.
    expect(runs.map((run) => [run.status, run.conclusion, run.annotations.length])).toEqual([
      ['queued', null, 0],
      ['completed', 'success', 1],
    ]);
    expect((await store.publications.get(`check:${task.repositoryId}:${task.headSha}`))?.githubId).toBe(
      runs[1]?.id,
    );
  });
});
