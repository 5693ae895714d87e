import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Trigger } from '../../../src/domain/task.ts';
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

const trigger: Trigger = {
  ...{ name: 'patchfleet:batch', actor: 'mona', deliveryId: 'd', commentId: null },
  kind: 'label',
};

/** A batch of three labelled issues. */
async function batch(): Promise<{ task: Task; numbers: number[] }> {
  const numbers: number[] = [];
  for (const title of ['One', 'Two', 'Three']) {
    const labels = ['bug', 'patchfleet:batch'];
    numbers.push((await fixture.double.openIssue(repoName, { title, labels })).number);
  }
  const issues = numbers.map((number, index) => ({ number, title: `Issue ${index}`, body: '' }));
  const task = await fixture.addTask({
    kind: 'batch',
    number: numbers[0] ?? 0,
    issues,
    trigger,
    instruction: '',
  });
  return { task, numbers };
}

const labelsOf = (numbers: readonly number[]) =>
  Promise.all(numbers.map((number) => fixture.double.labels(repoName, number)));
const file = (index: number) => ({ [`src/issue-${index}.ts`]: `${index}\n` });

describe('a batch with one pull request', () => {
  it('moves the labels with the state, tells each issue once, and fixes what was merged', async () => {
    const { double } = fixture;
    const { task, numbers } = await batch();
    const [one = 0, two = 0, three = 0] = numbers;
    await fixture.plan(task, numbers);
    await fixture.publish(task);
    expect(await labelsOf(numbers)).toEqual(numbers.map(() => ['bug', 'patchfleet:running']));
    expect(await fixture.ours(one)).toEqual([expect.stringContaining(`| #${two} | row 1 | waiting |`)]);

    await fixture.finishRow(task, 0, file(0));
    await fixture.finishRow(task, 1, file(1));
    await fixture.finishRow(task, 2, { code: 'verification_failed', detail: 'tests fail' });
    const merged = { ...file(0), ...file(1) };
    await fixture.integrate(task, 3, merged, {
      merged: [0, 1],
      leftOut: [[2, 'verification_failed', 'tests fail']],
    });
    await fixture.settle(task, 'partial');
    await fixture.publish(task);

    const [pull, ...others] = await fixture.pullsOf(task);
    expect(others).toEqual([]);
    expect(pull?.title).toBe('Fix 3 issues');
    expect(pull?.body?.match(/^Fixes #\d+$/gm)).toEqual([`Fixes #${one}`, `Fixes #${two}`]);
    expect(await labelsOf(numbers)).toEqual([
      ['bug', 'patchfleet:done'],
      ['bug', 'patchfleet:done'],
      ['bug', 'patchfleet:failed'],
    ]);
    const link = `[#${pull?.number}](`;
    expect(await fixture.ours(one)).toEqual([expect.stringContaining(link)]);
    expect(await fixture.ours(two)).toEqual([expect.stringContaining(link)]);
    const [third, ...more] = await fixture.ours(three);
    expect(more).toEqual([]);
    expect(third).toContain('**Not fixed.**');
    expect(third).toContain('`verification`');
    expect(third).not.toContain(link);
    expect(await fixture.phase(task)).toBe('finished');

    const writes = double.writes().length;
    await fixture.publish(task);
    expect(double.writes().length).toBe(writes);
  });

  it('makes the labels that the repository lacks, with their looks, once', async () => {
    const all = (await fixture.double.labels(repoName)).filter((name) => name.startsWith('patchfleet:'));
    expect(all.toSorted()).toEqual([
      'patchfleet:batch',
      'patchfleet:done',
      'patchfleet:failed',
      'patchfleet:running',
    ]);
  });

  it('opens it although one issue was closed or deleted meanwhile, and records what it could not do', async () => {
    const { double, store } = fixture;
    const { task, numbers } = await batch();
    const [, two = 0, three = 0] = numbers;
    await fixture.plan(task, numbers);
    for (const index of [0, 1, 2]) await fixture.finishRow(task, index, file(index + 10));
    await fixture.integrate(task, 3, { ...file(10), ...file(11), ...file(12) }, { merged: [0, 1, 2] });
    await fixture.settle(task);
    await double.closeIssue(repoName, two);
    await double.deleteIssue(repoName, three);
    await fixture.publish(task);
    expect((await fixture.pullsOf(task)).length).toBe(1);
    const failed = (await store.publications.ofTask(task.id)).filter(({ status }) => status === 'failed');
    expect(failed.map(({ key }) => key).toSorted()).toEqual([
      `labels:${task.id}:${three}`,
      `reply:task:${task.id}:${three}`,
    ]);
    expect(await fixture.phase(task)).toBe('finished');
  });
});

describe('a batch with a pull request for each issue', () => {
  it('opens each on its own branch; one that is closed meanwhile gets none', async () => {
    const { double } = fixture;
    const { task, numbers } = await batch();
    const [one = 0, two = 0, three = 0] = numbers;
    await fixture.plan(task, numbers, numbers);
    for (const index of [0, 1, 2]) {
      await fixture.finishRow(task, index, file(index + 20));
      await fixture.integrate(task, 3 + index, file(index + 20), { merged: [index] });
    }
    await fixture.settle(task);
    await double.closeIssue(repoName, three);
    await fixture.publish(task);
    const pulls = await fixture.pullsOf(task);
    expect(pulls.map(({ headRef, title, body }) => [headRef, title, body?.match(/^Fixes #\d+$/gm)])).toEqual([
      [`patchfleet/${task.id}/${one}`, 'Issue 0', [`Fixes #${one}`]],
      [`patchfleet/${task.id}/${two}`, 'Issue 1', [`Fixes #${two}`]],
    ]);
    expect((await labelsOf(numbers)).map((labels) => labels[1])).toEqual([
      'patchfleet:done',
      'patchfleet:done',
      'patchfleet:failed',
    ]);
    expect(await fixture.ours(two)).toEqual([expect.stringContaining(`[#${pulls[1]?.number}](`)]);
    expect(await fixture.ours(three)).toEqual([expect.stringContaining('was closed meanwhile')]);
  });

  it('publishes the others when the target moved for one, then that one', async () => {
    const { double } = fixture;
    const { task, numbers } = await batch();
    await fixture.plan(task, numbers.slice(0, 2), numbers.slice(0, 2));
    await fixture.finishRow(task, 0, file(30));
    await fixture.finishRow(task, 1, file(31));
    await fixture.integrate(task, 2, file(30), { merged: [0] });
    await double.push(repoName, { branch: 'main', files: { 'moved.txt': 'x\n' }, message: 'Other work' });
    await fixture.integrate(task, 3, file(31), { merged: [1] });
    await fixture.settle(task);
    await fixture.publish(task);
    expect((await fixture.pullsOf(task)).map(({ headRef }) => headRef)).toEqual([
      `patchfleet/${task.id}/${numbers[1]}`,
    ]);
    expect(await fixture.phase(task)).toBe('running');
    await fixture.integrate(task, 2, file(30), { merged: [0] });
    await fixture.settle(task);
    await fixture.publish(task);
    expect((await fixture.pullsOf(task)).length).toBe(2);
    expect(await fixture.phase(task)).toBe('finished');
  });
});

describe('an interrupted publish of a batch', () => {
  // Two issues: labels made or set and removed, tree, commit, branch, pull request, labels again, comments.
  it.each([1, 4, 8, 10, 14, 17])(
    'leaves one object of each when write %i is applied but not answered',
    async (k) => {
      const { double } = fixture;
      const { task, numbers } = await batch();
      double.faults.arm(k, 'drop');
      await fixture.plan(task, numbers);
      let broken = await fixture.publishStubbornly(task);
      const work = { ...file(k + 100), ...file(k + 200), ...file(k + 300) };
      await fixture.finishRow(task, 0, file(k + 100));
      await fixture.finishRow(task, 1, file(k + 200));
      await fixture.finishRow(task, 2, file(k + 300));
      await fixture.integrate(task, 3, work, { merged: [0, 1, 2] });
      await fixture.settle(task);
      broken += await fixture.publishStubbornly(task);
      expect(broken).toBe(1);
      expect(Object.keys(await fixture.branches(task)).length).toBe(1);
      expect((await fixture.pullsOf(task)).length).toBe(1);
      expect(await labelsOf(numbers)).toEqual(numbers.map(() => ['bug', 'patchfleet:done']));
      expect((await Promise.all(numbers.map(fixture.ours))).map((all) => all.length)).toEqual([1, 1, 1]);
      expect(await fixture.phase(task)).toBe('finished');
    },
  );
});
