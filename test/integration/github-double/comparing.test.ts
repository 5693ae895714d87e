import { Octokit } from '@octokit/rest';
import { execa } from 'execa';
import { afterAll, describe, expect, it } from 'vitest';
import { createPullsSetting, fullName, outcome, repo, silent } from './pulls-setting.ts';

const { double, octokit, dir, baseSha, branch, open, end } = await createPullsSetting();
afterAll(end);

/** Stands for the first commit, which tables of tests cannot know. */
const first = 'FIRST';

describe('reading', () => {
  it('lists files with patches, renames and binaries', async () => {
    await double.commit(fullName, {
      branch: 'files',
      files: {
        'a.txt': '1\ntwo\n3\n',
        'old.txt': null,
        'new.txt': 'same\nlines\nhere\n',
        'gone.txt': null,
        'bin.dat': Buffer.from([0, 255]),
      },
    });
    const { data } = await open('files');
    const files = await octokit.pulls.listFiles({ ...repo, pull_number: data.number });
    expect(
      files.data.map((f) => [f.filename, f.status, f.additions, f.deletions, f.patch, f.previous_filename]),
    ).toEqual([
      ['a.txt', 'modified', 1, 1, '@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3', undefined],
      ['bin.dat', 'added', 0, 0, undefined, undefined],
      ['gone.txt', 'removed', 0, 1, '@@ -1 +0,0 @@\n-x', undefined],
      ['new.txt', 'renamed', 0, 0, undefined, 'old.txt'],
    ]);
    const compared = await octokit.repos.compareCommitsWithBasehead({ ...repo, basehead: 'main...files' });
    expect(compared.data.files).toEqual(files.data);
  });

  it.each([
    ['ahead', first, 'cmp', 'ahead', 1, 0],
    ['behind', 'cmp', first, 'behind', 0, 1],
    ['identical', 'cmp', 'cmp', 'identical', 0, 0],
    ['diverged', 'cmp', 'cmp2', 'diverged', 1, 1],
  ])('compares: %s', async (_, base, head, status, ahead, behind) => {
    for (const name of ['cmp', 'cmp2']) {
      await double.commit(fullName, { branch: name, files: { [name]: '1' }, parent: baseSha });
    }
    const name = (side: string) => (side === first ? baseSha : side);
    const { data } = await octokit.repos.compareCommitsWithBasehead({
      ...repo,
      basehead: `${name(base)}...${name(head)}`,
    });
    expect([data.status, data.ahead_by, data.behind_by, data.merge_base_commit.sha]).toEqual([
      status,
      ahead,
      behind,
      status === 'identical' ? data.base_commit.sha : baseSha,
    ]);
  });

  it('compares with 250 commits at most and refuses what is not there', async () => {
    const rows = Array.from({ length: 251 }, (_, i) =>
      [
        `commit refs/heads/long`,
        `committer m <m@example.com> ${1_700_000_000 + i} +0000`,
        'data 1',
        'x',
      ].concat(i === 0 ? [`from ${baseSha}`] : []),
    );
    const input = `${rows.map((row) => row.join('\n')).join('\n')}\n`;
    await execa('git', ['--git-dir', dir, 'fast-import', '--quiet', '--force'], { input });
    const compare = (basehead: string) => octokit.repos.compareCommitsWithBasehead({ ...repo, basehead });
    const { data } = await compare(`${baseSha}...long`);
    expect([data.total_commits, data.commits.length]).toEqual([251, 250]);
    expect([await outcome(compare('main...none')), await outcome(compare('main...nobody:x'))]).toEqual([
      '404 Not Found',
      '404 Not Found',
    ]);
  });
});

describe('checks of others', () => {
  it('are listed as runs and suites; the combined status needs its own permission', async () => {
    const headSha = await branch('checked');
    await double.addCheckRun(fullName, { headSha, name: 'unit', conclusion: 'success' });
    await double.addCheckRun(fullName, { headSha, name: 'lint', appId: 9 });
    const ref = { ...repo, ref: headSha };
    const suites = async () =>
      (await octokit.checks.listSuitesForRef(ref)).data.check_suites.map((suite) => [
        suite.app?.slug,
        suite.status,
        suite.conclusion,
      ]);
    expect(await suites()).toEqual([
      ['github-actions', 'completed', 'success'],
      ['app-9', 'queued', null],
    ]);
    await double.completeCheckSuite(fullName, { headSha, appId: 9, conclusion: 'failure' });
    expect((await suites())[1]).toEqual(['app-9', 'completed', 'failure']);
    const runs = await octokit.checks.listForRef(ref);
    expect(runs.data.check_runs.map((run) => [run.name, run.conclusion, run.app?.slug])).toEqual([
      ['lint', 'failure', 'app-9'],
      ['unit', 'success', 'github-actions'],
    ]);
    expect(await outcome(octokit.repos.getCombinedStatusForRef(ref))).toBe(
      '403 Resource not accessible by integration',
    );
    const token = await double.mintToken(fullName, { statuses: 'read' });
    const reader = new Octokit({ baseUrl: double.apiUrl, auth: token, log: silent });
    const { data } = await reader.repos.getCombinedStatusForRef(ref);
    expect([data.state, data.total_count]).toEqual(['pending', 0]);
  });
});
