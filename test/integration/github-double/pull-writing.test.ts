import { execa } from 'execa';
import { afterAll, describe, expect, it } from 'vitest';
import { createPullsSetting, fullName, outcome, repo } from './pulls-setting.ts';

const { double, octokit, dir, baseSha, branch, open, end } = await createPullsSetting();
afterAll(end);

describe('opening a pull request', () => {
  it('makes a draft of the app’s with refs/pull/N/head', async () => {
    const sha = await branch('one');
    const { data } = await open('one', { draft: true, body: 'b' });
    expect([data.user.login, data.draft, data.head.sha, data.commits, data.changed_files]).toEqual([
      'patchfleet[bot]',
      true,
      sha,
      1,
      1,
    ]);
    const ref = await execa('git', ['--git-dir', dir, 'rev-parse', `refs/pull/${data.number}/head`]);
    expect(ref.stdout).toBe(sha);
    const found = await octokit.pulls.list({ ...repo, head: 'acme:one', state: 'all', base: 'main' });
    expect(found.data.map((pull) => pull.number)).toEqual([data.number]);
  });

  it('is refused for what exists, is empty or is not there', async () => {
    await branch('two');
    await double.setBranch(fullName, 'empty', baseSha);
    await double.commit(fullName, { branch: 'foreign', files: { f: '1' }, parent: null });
    expect([
      await outcome(open('two')),
      await outcome(open('acme:two')),
      await outcome(open('empty')),
      await outcome(open('none')),
      await outcome(open('two', { base: 'none' })),
      await outcome(open('foreign')),
      await outcome(open('two', { title: ' ' })),
      await outcome(open('two', { body: 'x'.repeat(65_537) })),
      await outcome(open('two', { base: 'one' })),
    ]).toEqual([
      201,
      'A pull request already exists for acme:two.',
      'No commits between main and empty',
      'head invalid',
      'base invalid',
      'The foreign branch has no history in common with main',
      'title missing_field',
      'body is too long (maximum is 65536 characters)',
      201,
    ]);
  });

  it('makes one of two that come at once', async () => {
    await branch('race');
    const results = await Promise.all([outcome(open('race')), outcome(open('race'))]);
    expect(results.sort()).toEqual([201, 'A pull request already exists for acme:race.']);
  });
});

describe('changing a pull request', () => {
  it('edits, closes and opens again, unless its branch is gone or other', async () => {
    const before = await branch('life');
    const { data } = await open('life');
    const update = (more: object) => octokit.pulls.update({ ...repo, pull_number: data.number, ...more });
    const edited = await update({ title: 'new', body: 'words', state: 'closed' });
    expect([edited.data.title, edited.data.body, edited.data.state, edited.data.closed_at !== null]).toEqual([
      'new',
      'words',
      'closed',
      true,
    ]);
    const next = await branch('life', { more: '1' });
    const reopened = await update({ state: 'open' });
    expect([reopened.data.state, reopened.data.head.sha]).toEqual(['open', next]);
    await update({ state: 'closed' });
    await double.setBranch(fullName, 'life', before);
    const forced = await outcome(update({ state: 'open' }));
    await double.deleteBranch(fullName, 'life');
    expect([
      forced,
      await outcome(update({ state: 'open' })),
      await outcome(update({ base: 'main' })),
    ]).toEqual([
      'state cannot be changed. The life branch was force-pushed or recreated.',
      'state cannot be changed. The life branch has been deleted.',
      200,
    ]);
  });

  it('closes with its head or its base branch', async () => {
    await branch('target');
    await branch('by-head', { h: '1' });
    const { data: byHead } = await open('by-head', { base: 'main' });
    const { data: byBase } = await open('by-head', { base: 'target' });
    await double.deleteBranch(fullName, 'target');
    const state = async (pull_number: number) =>
      (await octokit.pulls.get({ ...repo, pull_number })).data.state;
    expect([await state(byHead.number), await state(byBase.number)]).toEqual(['open', 'closed']);
    await octokit.git.deleteRef({ ...repo, ref: 'heads/by-head' });
    expect(await state(byHead.number)).toBe('closed');
  });

  it('follows its branch when the app moves the ref', async () => {
    await branch('moves');
    const { data } = await open('moves');
    const { data: tree } = await octokit.git.getTree({ ...repo, tree_sha: 'moves' });
    const make = { ...repo, message: 'm', tree: tree.sha, parents: [data.head.sha] };
    const { sha } = (await octokit.git.createCommit(make)).data;
    await octokit.git.updateRef({ ...repo, ref: 'heads/moves', sha });
    const moved = await octokit.pulls.get({ ...repo, pull_number: data.number });
    const commits = await octokit.pulls.listCommits({ ...repo, pull_number: data.number });
    expect([moved.data.head.sha, commits.data.map((c) => [c.sha, c.commit.verification?.verified])]).toEqual([
      sha,
      [
        [data.head.sha, false],
        [sha, true],
      ],
    ]);
  });

  it('is merged into its base and stays as it was', async () => {
    await branch('merge-me', { m: '1' });
    const { data } = await open('merge-me');
    const { sha } = await double.mergePullRequest(fullName, data.number, { sender: 'zoe' });
    const { data: merged } = await octokit.pulls.get({ ...repo, pull_number: data.number });
    expect([merged.merged, merged.merge_commit_sha, merged.merged_by?.login, merged.changed_files]).toEqual([
      true,
      sha,
      'zoe',
      1,
    ]);
    expect((await double.refs(fullName, 'refs/heads/main'))['refs/heads/main']).toBe(sha);
    expect((await double.pullRequests(fullName)).find((p) => p.number === data.number)?.merged).toBe(true);
  });
});
