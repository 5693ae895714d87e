import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
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

const binary = Buffer.from([0, 1, 2, 255, 254]);
const odd = {
  'src/config.ts': 'export const hello = "héllo";\r\nno newline at the end',
  'src/bom.ts': '\ufeffexport {};\n',
  'src/empty.ts': '',
  'src/nul.txt': 'a\0b',
  'logo.bin': binary,
  'README.md': null,
};

describe('publishing a fix', () => {
  it('takes a command from a live table to one draft pull request of the verified tree', async () => {
    const { double, store } = fixture;
    const task = await fixture.commanded();
    await fixture.publish(task);
    expect(await fixture.ours(task.number)).toEqual([expect.stringContaining('Planning the fix')]);
    await fixture.plan(task, [null, null]);
    await fixture.finishRow(task, 0, odd);
    await fixture.publish(task);
    expect(await fixture.ours(task.number)).toEqual([
      expect.stringContaining('**Working on the fix: 1 of 2 subtasks done.**'),
    ]);
    await fixture.finishRow(task, 1, { code: 'turns_exhausted', detail: 'no end' });
    const { tree, targetSha } = await fixture.integrate(task, 2, odd, {
      merged: [0],
      leftOut: [[1, 'turns_exhausted', 'no end']],
    });
    await fixture.settle(task, 'partial');
    await fixture.publish(task);

    const ref = `patchfleet/${task.id}`;
    const commit = await double.commitAt(repoName, `refs/heads/${ref}`);
    expect([commit?.tree, commit?.parents]).toEqual([tree, [targetSha]]);
    expect(commit?.message).toMatch(
      new RegExp(`^move the strings\n\n- row 0: Did row 0.\n\nPatchfleet-Task: ${task.id}\n?$`),
    );
    const [pull, ...more] = await fixture.pullsOf(task);
    expect(more).toEqual([]);
    expect(pull).toMatchObject({
      title: 'move the strings',
      draft: true,
      state: 'open',
      baseRef: 'main',
      headRef: ref,
    });
    expect(pull?.body).toContain('#### row 0\n\nDid row 0.');
    expect(pull?.body).toContain('`README.md` (removed)');
    expect(pull?.body).toContain('- **row 1** (`turns_exhausted`)');
    expect(pull?.body).not.toContain('Fixes #');
    expect(await fixture.ours(task.number)).toEqual([
      expect.stringContaining(`**Draft pull request [#${pull?.number}](`),
    ]);
    expect(await fixture.phase(task)).toBe('finished');
    expect((await store.publications.ofTask(task.id)).map((row) => [row.kind, row.status])).toEqual([
      ['branch', 'done'],
      ['pull_request', 'done'],
      ['comment', 'done'],
    ]);
    expect(await double.checkRuns(repoName)).toEqual([]);

    const writes = double.writes().length;
    await fixture.publish(task);
    expect(double.writes().length).toBe(writes);
  });

  it('fixes the issue where all of it was merged, on a label without a command too', async () => {
    const { double } = fixture;
    const { number } = await double.openIssue(repoName, { title: 'T' });
    const trigger = {
      kind: 'label',
      name: 'patchfleet:fix',
      actor: 'mona',
      deliveryId: 'd',
      commentId: null,
    } as const;
    const task = await fixture.addTask({ number, trigger, instruction: '', title: 'A @octocat fixes #1' });
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, { 'src/a.ts': 'a\n' });
    await fixture.integrate(task, 1, { 'src/a.ts': 'a\n' }, { merged: [0] });
    await fixture.settle(task);
    await fixture.publish(task);
    const [pull] = await fixture.pullsOf(task);
    expect(pull?.body).toContain(`\nFixes #${number}\n`);
    expect(pull?.title.replaceAll('\u200b', '')).toBe('A @octocat fixes #1');
    const [comment, ...others] = await fixture.ours(number);
    expect(others).toEqual([]);
    expect(comment).toMatch(new RegExp(`^<!-- patchfleet:reply:task:${task.id} -->`));
  });

  it('answers where there is nothing to change, and opens nothing', async () => {
    const task = await fixture.commanded();
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, {}, 'They are in the config already.');
    await fixture.integrate(task, 1, {});
    await fixture.settle(task);
    await fixture.publish(task);
    expect(await fixture.pullsOf(task)).toEqual([]);
    expect(await fixture.branches(task)).toEqual({});
    const [comment] = await fixture.ours(task.number);
    expect(comment).toContain('There is nothing to change');
    expect(comment).toContain('They are in the config already.');
    expect(await fixture.phase(task)).toBe('finished');
  });

  it.each([
    ['publish_rest', 'none of the changes could be merged'],
    ['all_or_nothing', 'wants all or nothing'],
  ] as const)('says why everything was left out (%s)', async (onPartial, words) => {
    const config = repositoryConfigSchema.parse({ fix: { on_partial: onPartial } });
    const task = await fixture.commanded({ config });
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, { 'src/a.ts': 'x\n' });
    await fixture.integrate(task, 1, {}, { leftOut: [[0, 'conflict', 'conflicts with main in src/a.ts']] });
    await fixture.settle(task);
    await fixture.publish(task);
    expect(await fixture.pullsOf(task)).toEqual([]);
    const [comment] = await fixture.ours(task.number);
    expect(comment).toContain(words);
    expect(comment).toContain('conflicts with main in src/a.ts');
  });

  it('targets the branch of a pull request of this repository', async () => {
    const { double } = fixture;
    const pull = await fixture.openPull('own-change');
    const task = await fixture.addTask({
      ...{ subject: 'pull_request', number: pull.number, targetRef: 'own-change', headSha: pull.headSha },
    });
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, { 'src/new.ts': 'n\n' });
    await fixture.integrate(task, 1, { 'src/new.ts': 'n\n' }, { merged: [0] });
    await fixture.settle(task);
    await fixture.publish(task);
    expect((await fixture.pullsOf(task)).map(({ baseRef }) => baseRef)).toEqual(['own-change']);
    expect((await double.checkRuns(repoName)).filter(({ headSha }) => headSha === pull.headSha)).toEqual([]);
  });

  it('gives a fork the patch in a comment', async () => {
    const { double, mirror, signal } = fixture;
    const files = { 'src/old.ts': 'of the fork\n' };
    const pull = await double.openPullRequest(repoName, { branch: 'theirs', fork: 'mallory', files });
    await mirror.fetchPullRequest(pull.number, pull.headSha, pull.baseSha, signal);
    const task = await fixture.addTask({
      ...{
        subject: 'pull_request',
        number: pull.number,
        headSha: pull.headSha,
        targetRef: 'theirs',
        fork: true,
      },
    });
    await fixture.plan(task, [null]);
    await fixture.finishRow(task, 0, { 'src/old.ts': 'patched\n' });
    await fixture.integrate(task, 1, { 'src/old.ts': 'patched\n' }, { merged: [0], onto: pull.headSha });
    await fixture.settle(task);
    await fixture.publish(task);
    const comments = await fixture.ours(pull.number);
    expect(comments.length).toBe(2);
    expect(comments[0]).toContain('-of the fork\n+patched\n```');
    expect(comments[1]).toContain('the patch is in [a comment](');
    expect(await fixture.pullsOf(task)).toEqual([]);
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('asks for approval of what is held, in the comment that later tells the rest', async () => {
    const task = await fixture.commanded({ held: true });
    await fixture.publish(task);
    await fixture.publish(task);
    expect(await fixture.ours(task.number)).toEqual([expect.stringContaining('`/patchfleet approve`')]);
    await fixture.settle(task, 'cancelled');
    await fixture.publish(task);
    expect(await fixture.ours(task.number)).toEqual([expect.stringContaining('The fix was cancelled')]);
  });

  it('tells a campaign by its pull request alone', async () => {
    const trigger = { kind: 'push', name: 'tidy', actor: 'mona', deliveryId: 'd', commentId: null } as const;
    const task = await fixture.addTask({ kind: 'campaign', subject: 'branch', number: 0, trigger });
    await fixture.plan(task, [null]);
    await fixture.publish(task);
    await fixture.finishRow(task, 0, { 'src/t.ts': 't\n' });
    await fixture.integrate(task, 1, { 'src/t.ts': 't\n' }, { merged: [0] });
    await fixture.settle(task);
    await fixture.publish(task);
    const [pull] = await fixture.pullsOf(task);
    expect(pull?.body).toContain('Asked for by a push: move the strings');
    expect(await fixture.phase(task)).toBe('finished');
  });

  it('names red checks of its pull request once per head', async () => {
    const { double } = fixture;
    const pull = await fixture.openPull('red');
    const task = await fixture.commanded();
    const report = { pull: pull.number, headSha: pull.headSha, failing: ['lint', 'build `x` @octocat'] };
    await fixture.replica().reportCi(task.id, report);
    const writes = double.writes().length;
    await fixture.replica().reportCi(task.id, report);
    expect(double.writes().length).toBe(writes);
    expect(await fixture.ours(pull.number)).toEqual([expect.stringContaining('- `lint`')]);
  });
});
