import { Octokit } from '@octokit/rest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';

const repo = { owner: 'acme', repo: 'shop' };
const fullName = 'acme/shop';
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}\n`).join('');

let double: GitHubDouble;
let octokit: Octokit;
let number: number;
let headSha: string;

beforeAll(async () => {
  double = await createGitHubDouble();
  await double.createRepository({
    fullName,
    files: { 'a.txt': lines(1, 40), 'gone.txt': lines(1, 3), 'app/[id]/page "x"\nü.tsx': 'one\n' },
  });
  const opened = await double.openPullRequest(fullName, {
    branch: 'change',
    files: {
      'a.txt': lines(1, 40).replace('line 10\n', 'line ten\nline ten and a half\n').replace('line 30\n', ''),
      'gone.txt': null,
      'app/[id]/page "x"\nü.tsx': 'two\n',
      'bin.dat': Buffer.from([0, 255, 1]),
    },
  });
  number = opened.number;
  headSha = opened.headSha;
  octokit = new Octokit({ auth: await double.mintToken(fullName), baseUrl: double.apiUrl, log: silent });
});
afterAll(async () => {
  expect({ unexpected: double.unexpected, violations: double.violations }).toEqual({
    unexpected: [],
    violations: [],
  });
  await double.close();
});
const silent = { debug() {}, info() {}, warn() {}, error() {} };

const review = (comments: object[], more: object = {}) =>
  octokit.pulls
    .createReview({
      ...repo,
      pull_number: number,
      event: 'COMMENT',
      body: 'hello',
      comments,
      ...more,
    } as never)
    .then(
      (r) => r.status as number,
      (e: { status: number; response: { data: { errors: unknown } } }) => e.response.data.errors ?? e.status,
    );

describe('reviews', () => {
  const unresolved = ['Line could not be resolved'];
  it.each([
    ['an added line', { path: 'a.txt', line: 11, side: 'RIGHT' }, 200],
    ['a context line three below', { path: 'a.txt', line: 14, side: 'RIGHT' }, 200],
    ['a line past the context', { path: 'a.txt', line: 15, side: 'RIGHT' }, unresolved],
    ['a deleted line on the left', { path: 'a.txt', line: 30, side: 'LEFT' }, 200],
    ['a context line on the left', { path: 'a.txt', line: 29, side: 'LEFT' }, unresolved],
    ['a range in one hunk', { path: 'a.txt', start_line: 9, line: 11, side: 'RIGHT' }, 200],
    [
      'a range over two hunks',
      { path: 'a.txt', start_line: 10, line: 29, side: 'RIGHT' },
      ['Start line must be part of the same hunk as the line.'],
    ],
    [
      'a range of one line',
      { path: 'a.txt', start_line: 10, line: 10 },
      ['Start line must precede the end line.'],
    ],
    ['a file not in the diff', { path: 'b.txt', line: 1 }, ['Path could not be resolved']],
    ['a binary file', { path: 'bin.dat', line: 1 }, unresolved],
    ['a deleted file', { path: 'gone.txt', line: 2, side: 'LEFT' }, 200],
    ['an odd file name', { path: 'app/[id]/page "x"\nü.tsx', line: 1 }, 200],
  ])('take or refuse %s', async (_, anchor, expected) => {
    expect(await review([{ body: 'note', ...anchor }])).toEqual(expected);
  });

  it('post nothing at all when one anchor is off the diff', async () => {
    const before = (await double.reviews(fullName, number)).length;
    const result = await review([
      { path: 'a.txt', line: 10, body: 'good' },
      { path: 'a.txt', line: 20, body: 'bad' },
    ]);
    expect([result, (await double.reviews(fullName, number)).length]).toEqual([unresolved, before]);
  });

  it('need a body and a commit of the pull request', async () => {
    const { object } = { object: await double.commit(fullName, { branch: 'else', files: { x: '1' } }) };
    expect([await review([], { body: '' }), await review([], { commit_id: object })]).toEqual([
      ["Body can't be blank"],
      ['commit_id is not part of the pull request'],
    ]);
  });

  it('list their comments with the hunk up to the line', async () => {
    const { data: reviews } = await octokit.pulls.listReviews({ ...repo, pull_number: number });
    const { data } = await octokit.pulls.listCommentsForReview({
      ...repo,
      pull_number: number,
      review_id: reviews[0]?.id ?? 0,
    });
    expect(data.map((c) => [c.path, c.line, c.side, c.diff_hunk.split('\n').at(-1)])).toEqual([
      ['a.txt', 11, 'RIGHT', '+line ten and a half'],
    ]);
    const all = await octokit.paginate(octokit.pulls.listReviewComments, {
      ...repo,
      pull_number: number,
      per_page: 2,
    });
    expect(all.length).toBe(6);
  });
});

describe('reading', () => {
  it('counts a pull request by git and finds it by head and by commit', async () => {
    const { data: pull } = await octokit.pulls.get({ ...repo, pull_number: number });
    const byHead = await octokit.pulls.list({ ...repo, head: 'acme:change', state: 'open' });
    const bySha = await octokit.repos.listPullRequestsAssociatedWithCommit({ ...repo, commit_sha: headSha });
    expect([pull.head.sha, pull.changed_files, pull.commits, pull.mergeable]).toEqual([headSha, 4, 1, true]);
    expect([byHead.data.map((p) => p.number), bySha.data.map((p) => p.number)]).toEqual([[number], [number]]);
  });

  it('gives files, directories, raw bytes and 404', async () => {
    const odd = await octokit.repos.getContent({ ...repo, path: 'app/[id]/page "x"\nü.tsx', ref: headSha });
    expect(Buffer.from((odd.data as { content: string }).content, 'base64').toString()).toBe('two\n');
    const dir = await octokit.repos.getContent({ ...repo, path: 'app' });
    expect((dir.data as { path: string }[]).map((e) => e.path)).toEqual(['app/[id]']);
    const raw = await octokit.repos.getContent({ ...repo, path: 'gone.txt', mediaType: { format: 'raw' } });
    expect(Buffer.from(raw.data as never).toString()).toBe(lines(1, 3));
    await expect(octokit.repos.getContent({ ...repo, path: 'none' })).rejects.toMatchObject({ status: 404 });
  });

  it.each([
    ['admin', 'admin', 'admin'],
    ['maintain', 'write', 'maintain'],
    ['write', 'write', 'write'],
    ['triage', 'read', 'triage'],
    ['read', 'read', 'read'],
    ['none', 'none', 'none'],
  ] as const)('shows the role %s as permission %s', async (role, permission, roleName) => {
    await double.setPermission(fullName, `user-${role}`, role);
    const { data } = await octokit.repos.getCollaboratorPermissionLevel({
      ...repo,
      username: `user-${role}`,
    });
    expect([data.permission, data.role_name]).toEqual([permission, roleName]);
  });

  it('answers none for an app and 404 for nobody', async () => {
    const level = (username: string) => octokit.repos.getCollaboratorPermissionLevel({ ...repo, username });
    expect((await level('patchfleet[bot]')).data.permission).toBe('none');
    await expect(level('nobody')).rejects.toMatchObject({ status: 404 });
  });
});

describe('check runs', () => {
  it('append annotations, page them, conclude and open again', async () => {
    const note = (i: number) => ({
      path: 'a.txt',
      start_line: i,
      end_line: i,
      annotation_level: 'warning' as const,
      message: `m${i}`,
    });
    const output = (from: number) => ({
      title: 't',
      summary: 's',
      annotations: Array.from({ length: 50 }, (_, i) => note(from + i)),
    });
    const { data: run } = await octokit.checks.create({
      ...repo,
      name: 'x',
      head_sha: headSha,
      external_id: 'e',
      output: output(1),
    });
    const id = { ...repo, check_run_id: run.id };
    const done = await octokit.checks.update({ ...id, conclusion: 'failure', output: output(51) });
    expect([done.data.status, done.data.conclusion, done.data.external_id]).toEqual([
      'completed',
      'failure',
      'e',
    ]);
    const all = await octokit.paginate(octokit.checks.listAnnotations, { ...id, per_page: 30 });
    expect(all.map((a) => a.start_line)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
    const again = await octokit.checks.update({ ...id, status: 'in_progress' });
    expect([again.data.status, again.data.conclusion]).toEqual(['in_progress', null]);
    expect(again.data.pull_requests.map((p) => p.number)).toEqual([number]);
  });

  it('are listed for a ref, the latest of a name only unless all are wanted', async () => {
    const create = (name: string) => octokit.checks.create({ ...repo, name, head_sha: headSha });
    await create('y');
    const last = await create('y');
    const list = async (filter: 'latest' | 'all') =>
      (
        await octokit.checks.listForRef({
          ...repo,
          ref: 'change',
          check_name: 'y',
          filter,
          app_id: double.app.id,
        })
      ).data;
    expect((await list('latest')).check_runs.map((r) => r.id)).toEqual([last.data.id]);
    expect((await list('all')).total_count).toBe(2);
  });

  it('refuse an unknown commit, a foreign run, columns over lines and a completion without conclusion', async () => {
    const status = (p: Promise<unknown>) =>
      p.then(
        () => 'taken',
        (e: { status: number }) => e.status,
      );
    const foreign = await double.addCheckRun(fullName, { headSha, name: 'ci', appId: 7 });
    const annotation = {
      path: 'a',
      start_line: 1,
      end_line: 2,
      start_column: 1,
      end_column: 2,
      message: 'm',
    };
    const output = {
      title: 't',
      summary: 's',
      annotations: [{ ...annotation, annotation_level: 'notice' as const }],
    };
    expect([
      await status(octokit.checks.create({ ...repo, name: 'x', head_sha: 'a'.repeat(40) })),
      await status(octokit.checks.update({ ...repo, check_run_id: foreign.id, status: 'in_progress' })),
      await status(octokit.checks.create({ ...repo, name: 'x', head_sha: headSha, output })),
      await status(
        octokit.checks.create({ ...repo, name: 'x', head_sha: headSha, status: 'completed' } as never),
      ),
    ]).toEqual([422, 403, 422, 422]);
  });
});

describe('comments', () => {
  it('are created, edited, listed and reacted to once', async () => {
    const issue = { ...repo, issue_number: number };
    const { data: mine } = await octokit.issues.createComment({ ...issue, body: 'one' });
    await octokit.issues.updateComment({ ...repo, comment_id: mine.id, body: 'two' });
    const theirs = await double.comment(fullName, number, { author: 'zoe', body: '/patchfleet review' });
    const react = () =>
      octokit.reactions.createForIssueComment({ ...repo, comment_id: theirs.id, content: 'eyes' });
    expect([(await react()).status, (await react()).status]).toEqual([201, 200]);
    const { data } = await octokit.issues.listComments(issue);
    expect(data.map((c) => [c.user?.login, c.body])).toEqual([
      ['patchfleet[bot]', 'two'],
      ['zoe', '/patchfleet review'],
    ]);
    expect((await double.reactions(theirs.id)).map((r) => r.content)).toEqual(['eyes']);
    const status = (body: string) =>
      octokit.issues.createComment({ ...issue, body }).then(
        () => 201,
        (e) => e.status,
      );
    expect([await status(''), await status('x'.repeat(65_537)), await status('x'.repeat(65_536))]).toEqual([
      422, 422, 201,
    ]);
  });
});
