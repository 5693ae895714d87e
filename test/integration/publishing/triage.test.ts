import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { NewTask } from '../../../src/store/port/tasks.ts';
import { type ChangeFixture, openChangeFixture, repoName } from './change-fixture.ts';

let fixture: ChangeFixture;
beforeAll(async () => {
  fixture = await openChangeFixture();
  // The repository's own labels.
  await fixture.double.openIssue(repoName, {
    title: 'Old',
    labels: ['bug', 'area: cart', 'patchfleet:batch'],
  });
});
afterAll(() => fixture?.close());
afterEach(() => {
  fixture.double.faults.disarm();
  expect(fixture.double.unexpected).toEqual([]);
  expect(fixture.double.violations).toEqual([]);
});

const opened = { kind: 'issue', name: 'opened', actor: 'mona', deliveryId: 'd', commentId: null } as const;
const triage = {
  labels: ['bug', 'area: cart', 'no such label', 'patchfleet:batch'],
  duplicates: [1],
  question: 'Which version is it, @octocat?',
  summary: 'The cart loses items. Fixes #1.',
};

async function issue(labels: readonly string[] = []) {
  return (await fixture.double.openIssue(repoName, { title: 'It fails', labels })).number;
}

const add = (number: number, more: Partial<NewTask> = {}) =>
  fixture.addTask({ kind: 'triage', targetRef: '', number, trigger: opened, ...more });

describe('publishing a triage', () => {
  it("adds the repository's own labels, removes none, names duplicates and asks once", async () => {
    const { double } = fixture;
    const number = await issue(['patchfleet:fix', 'bug']);
    const task = await add(number);
    await fixture.publish(task);
    expect(await fixture.ours(number)).toEqual([]);
    await fixture.triaged(task, triage);
    await fixture.publish(task);
    expect(await double.labels(repoName, number)).toEqual(['patchfleet:fix', 'bug', 'area: cart']);
    const [comment, ...others] = await fixture.ours(number);
    expect(others).toEqual([]);
    expect(comment).toBe(
      [
        `<!-- patchfleet:triage:${task.repositoryId}:${number} -->\nThe cart loses items. Fixes\u200b #\u200b1.`,
        'Labels: `bug`, `area: cart`.',
        'Seems to say the same as #1. Nothing was closed: that is for people to decide.',
        '**Something is missing**',
        'Which version is it, @\u200boctocat?',
      ].join('\n\n'),
    );
    expect(await fixture.phase(task)).toBe('finished');
    expect((await double.issues(repoName)).find((one) => one.number === number)?.state).toBe('open');

    const second = await add(number);
    await fixture.triaged(second, { ...triage, question: null });
    await fixture.publish(second);
    expect((await fixture.ours(number)).length).toBe(1);
    expect((await fixture.ours(number))[0]).not.toContain('Something is missing');
    const writes = double.writes().length;
    await fixture.publish(second);
    expect(double.writes().length).toBe(writes);
  });

  it('sets labels of the list of the repository file only', async () => {
    const number = await issue();
    const config = repositoryConfigSchema.parse({ triage: { labels: ['Bug'] } });
    const task = await add(number, { config });
    await fixture.triaged(task, triage);
    await fixture.publish(task);
    expect(await fixture.double.labels(repoName, number)).toEqual(['bug']);
  });

  it('adds the labels of the rules to those of the model', async () => {
    const number = await issue();
    const rules = [{ match: ['fail*'], labels: ['area: cart', 'no such label'] }];
    const config = repositoryConfigSchema.parse({ triage: { rules } });
    const task = await add(number, { config, title: 'It fails' });
    await fixture.triaged(task, { ...triage, labels: ['bug'] });
    await fixture.publish(task);
    expect(await fixture.double.labels(repoName, number)).toEqual(['area: cart', 'bug']);
  });

  describe('by rules alone', () => {
    const config = repositoryConfigSchema.parse({
      triage: { agent: 'none', rules: [{ match: ['lost item*'], labels: ['Bug', 'no such label'] }] },
    });
    const asked = { ...opened, kind: 'command', name: 'triage', commentId: 77 } as const;

    it('needs no row: it is over before it began', async () => {
      const number = await issue();
      const task = await add(number, { config, title: 'Lost items', done: true });
      expect(task).toMatchObject({ phase: 'publishing', outcome: 'succeeded' });
      await fixture.publish(task);
      expect(await fixture.double.labels(repoName, number)).toEqual(['bug']);
      expect(await fixture.ours(number)).toEqual([
        `<!-- patchfleet:triage:${task.repositoryId}:${number} -->\nSorted by the rules of the repository file.\n\nLabels: \`Bug\`.`,
      ]);
      expect(await fixture.phase(task)).toBe('finished');
    });

    it('says that no rule fits where somebody asked, and nothing where nobody did', async () => {
      const number = await issue();
      const task = await add(number, { config, title: 'Other', done: true });
      await fixture.publish(task);
      expect(await fixture.ours(number)).toEqual([]);
      expect(await fixture.phase(task)).toBe('finished');
      const again = await add(number, { config, title: 'Other', done: true, trigger: asked });
      await fixture.publish(again);
      expect(await fixture.ours(number)).toEqual([
        expect.stringContaining('No rule of the repository file fits this issue.'),
      ]);
    });
  });

  it('says of one that failed that it failed', async () => {
    const number = await issue();
    const task = await add(number);
    await fixture.settle(task, 'failed', { code: 'model_unavailable', detail: '500' });
    await fixture.publish(task);
    expect(await fixture.ours(number)).toEqual([expect.stringContaining('**The triage failed.**')]);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('leaves an issue alone that was closed meanwhile', async () => {
    const { double, store } = fixture;
    const number = await issue();
    const task = await add(number);
    await fixture.triaged(task, triage);
    await double.closeIssue(repoName, number);
    const writes = double.writes().length;
    await fixture.publish(task);
    expect(double.writes().length).toBe(writes);
    const rows = await store.publications.ofTask(task.id);
    expect(rows.map((row) => [row.status, row.failure?.detail])).toEqual([
      ['failed', 'the issue was closed meanwhile'],
    ]);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it.each([1, 2])('leaves one of each when write %i is applied but not answered', async (k) => {
    const { double } = fixture;
    const number = await issue();
    const task = await add(number);
    await fixture.triaged(task, triage);
    double.faults.arm(k, 'drop');
    expect(await fixture.publishStubbornly(task)).toBe(1);
    expect(await double.labels(repoName, number)).toEqual(['bug', 'area: cart']);
    const comments = await fixture.ours(number);
    expect(comments).toEqual([expect.stringContaining('Labels: `bug`, `area: cart`.')]);
  });
});
