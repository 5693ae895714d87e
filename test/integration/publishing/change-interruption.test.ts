import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '../../../src/store/port.ts';
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

const work = { 'src/fixed.ts': 'fixed\n', 'logo.bin': Buffer.from([0, 1, 255]) };

async function finish(task: Task) {
  await fixture.finishRow(task, 0, work);
  await fixture.integrate(task, 1, work, { merged: [0] });
  await fixture.settle(task);
}

async function onGitHub(task: Task) {
  return {
    branches: Object.keys(await fixture.branches(task)).length,
    pulls: (await fixture.pullsOf(task)).map(({ state, draft }) => [state, draft]),
    comments: (await fixture.ours(task.number)).map((body) => body.includes('1 of 1 subtask merged')),
    phase: await fixture.phase(task),
  };
}

const whole = { branches: 1, pulls: [['open', true]], comments: [true], phase: 'finished' };

describe('an interrupted publish of a change', () => {
  // The comment; then a blob, the tree, the commit, the branch, the pull request, the comment.
  it.each([1, 2, 3, 4, 5, 6, 7])(
    'leaves one object of each when write %i is applied but not answered',
    async (k) => {
      const { double } = fixture;
      const task = await fixture.commanded();
      await fixture.plan(task, [null]);
      double.faults.arm(k, 'drop');
      let broken = await fixture.publishStubbornly(task);
      await finish(task);
      broken += await fixture.publishStubbornly(task);
      expect(broken).toBe(1);
      expect(await onGitHub(task)).toEqual(whole);
      const writes = double.writes().length;
      await fixture.publish(task);
      expect(double.writes().length).toBe(writes);
    },
  );

  it('makes one object of each when replicas publish at once', async () => {
    const task = await fixture.commanded();
    await fixture.plan(task, [null]);
    await finish(task);
    await Promise.all([1, 2, 3].map(() => fixture.publish(task)));
    expect(await onGitHub(task)).toEqual(whole);
  });

  it('keeps what it has when the target moves before the pull request is open', async () => {
    const { double } = fixture;
    const task = await fixture.commanded();
    await fixture.plan(task, [null]);
    await finish(task);
    double.faults.failNext('POST /repos/{owner}/{repo}/git/refs', 502, { applied: true });
    await expect(fixture.publish(task)).rejects.toMatchObject({ code: 'github_unavailable' });
    await double.push(repoName, { branch: 'main', files: { 'moved.txt': 'x\n' }, message: 'Other work' });
    await fixture.publish(task);
    expect(await onGitHub(task)).toEqual(whole);
  });
});
