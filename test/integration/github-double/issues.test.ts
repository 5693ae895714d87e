import { Octokit } from '@octokit/rest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';

const repo = { owner: 'acme', repo: 'shop' };
const fullName = 'acme/shop';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

let double: GitHubDouble;
let octokit: Octokit;

beforeAll(async () => {
  double = await createGitHubDouble();
  await double.createRepository({ fullName, files: { a: '1\n' } });
  octokit = new Octokit({ baseUrl: double.apiUrl, auth: await double.mintToken(fullName), log: silent });
});
afterAll(async () => {
  expect({ unexpected: double.unexpected, violations: double.violations }).toEqual({
    unexpected: [],
    violations: [],
  });
  await double.close();
});

const outcome = (promise: Promise<{ status: number }>) =>
  promise.then(
    (r) => r.status as number | string,
    (e: { status: number; response: { data: { message: string } } }) =>
      `${e.status} ${e.response.data.message}`,
  );
const names = (labels: readonly { name: string }[]) => labels.map((label) => label.name);

describe('issues', () => {
  it('are read and listed by state and labels, pull requests among them', async () => {
    const request = { title: 'one', labels: ['bug', 'Batch'], author: 'new', association: 'FIRST_TIMER' };
    const one = await double.openIssue(fullName, request);
    const two = await double.openIssue(fullName, { title: 'two', labels: ['batch'] });
    const pull = await double.openPullRequest(fullName, { branch: 'x', files: { a: '2\n' } });
    await double.addLabel(fullName, pull.number, 'bug');
    await double.closeIssue(fullName, two.number, { reason: 'not_planned' });
    const list = async (more: object) =>
      (await octokit.issues.listForRepo({ ...repo, ...more })).data.map((issue) => issue.number);
    const { data } = await octokit.issues.get({ ...repo, issue_number: one.number });
    expect([
      data.title,
      data.author_association,
      data.labels.map((l) => (l as { name: string }).name),
    ]).toEqual(['one', 'FIRST_TIMER', ['bug', 'Batch']]);
    expect([
      await list({}),
      await list({ state: 'all', labels: 'batch' }),
      await list({ state: 'closed' }),
      await list({ labels: 'bug', direction: 'asc' }),
      await list({ state: 'all', per_page: 1, page: 2 }),
    ]).toEqual([
      [pull.number, one.number],
      [two.number, one.number],
      [two.number],
      [one.number, pull.number],
      [two.number],
    ]);
    const { data: closed } = await octokit.issues.get({ ...repo, issue_number: two.number });
    expect([closed.state, closed.state_reason]).toEqual(['closed', 'not_planned']);
    expect((await double.issues(fullName)).map((issue) => [issue.title, issue.labels, issue.state])).toEqual([
      ['one', ['bug', 'Batch'], 'open'],
      ['two', ['Batch'], 'closed'],
    ]);
  });

  it('are gone with 410 once deleted, and take no comment while locked', async () => {
    const { number } = await double.openIssue(fullName, { title: 'x' });
    const issue = { ...repo, issue_number: number };
    const comment = () => outcome(octokit.issues.createComment({ ...issue, body: 'b' }));
    await double.lockIssue(fullName, number);
    const locked = await comment();
    await double.lockIssue(fullName, number, { locked: false });
    const unlocked = await comment();
    await double.deleteIssue(fullName, number);
    const gone = '410 This issue was deleted';
    expect([
      locked,
      unlocked,
      await comment(),
      await outcome(octokit.issues.get(issue)),
      await outcome(octokit.issues.addLabels({ ...issue, labels: ['bug'] })),
      await outcome(octokit.issues.get({ ...repo, issue_number: 999 })),
    ]).toEqual([
      '403 Unable to create comment because issue is locked.',
      201,
      gone,
      gone,
      gone,
      '404 Not Found',
    ]);
  });

  it('lose comments that are deleted', async () => {
    const { number } = await double.openIssue(fullName, { title: 'x' });
    const { data } = await octokit.issues.createComment({ ...repo, issue_number: number, body: 'mine' });
    const theirs = await double.comment(fullName, number, { author: 'zoe', body: 'hi' });
    await double.deleteComment(fullName, data.id, { sender: 'zoe' });
    const update = (comment_id: number) =>
      outcome(octokit.issues.updateComment({ ...repo, comment_id, body: 'b' }));
    expect([
      await update(data.id),
      await outcome(octokit.issues.getComment({ ...repo, comment_id: data.id })),
      await update(theirs.id),
    ]).toEqual(['404 Not Found', '404 Not Found', '403 Resource not accessible by integration']);
  });
});

describe('labels', () => {
  it('are added, made where missing, replaced and removed', async () => {
    const { number } = await double.openIssue(fullName, { title: 'x', labels: ['bug'] });
    const issue = { ...repo, issue_number: number };
    const added = await octokit.issues.addLabels({ ...issue, labels: ['BUG', 'patchfleet:running'] });
    const removed = await octokit.issues.removeLabel({ ...issue, name: 'bug' });
    const again = await outcome(octokit.issues.removeLabel({ ...issue, name: 'bug' }));
    const set = await octokit.issues.setLabels({ ...issue, labels: ['question', 'patchfleet:done'] });
    const read = await octokit.issues.listLabelsOnIssue(issue);
    const cleared = await outcome(octokit.issues.removeAllLabels(issue));
    expect([
      names(added.data),
      names(removed.data),
      again,
      names(set.data),
      names(read.data),
      cleared,
    ]).toEqual([
      ['bug', 'patchfleet:running'],
      ['patchfleet:running'],
      '404 Label does not exist',
      ['question', 'patchfleet:done'],
      ['question', 'patchfleet:done'],
      204,
    ]);
    expect(await double.labels(fullName, number)).toEqual([]);
    expect(await double.labels(fullName)).toContain('patchfleet:done');
  });

  it('of a repository are the usual nine at first, paged, and made once', async () => {
    const other = { owner: 'acme', repo: 'plain' };
    await double.createRepository({ fullName: 'acme/plain', files: { a: '' } });
    await double.createRepository({ fullName: 'acme/own', files: { a: '' }, labels: [{ name: 'mine' }] });
    const all = await octokit.paginate(octokit.issues.listLabelsForRepo, { ...other, per_page: 4 });
    const create = (name: string, more: object = {}) =>
      outcome(octokit.issues.createLabel({ ...other, name, ...more }));
    expect([all.length, await double.labels('acme/own')]).toEqual([9, ['mine']]);
    expect([
      await create('new', { color: 'ff0000', description: 'd' }),
      await create('NEW'),
      await create('x', { color: '#ff000' }),
      await create('x'.repeat(51)),
      await outcome(octokit.issues.getLabel({ ...other, name: 'New' })),
      await outcome(octokit.issues.getLabel({ ...other, name: 'none' })),
    ]).toEqual([
      201,
      '422 Validation Failed',
      '422 Validation Failed',
      '422 Validation Failed',
      200,
      '404 Not Found',
    ]);
  });

  it('are set by those alone who may write issues or pull requests', async () => {
    const { number } = await double.openIssue(fullName, { title: 'x' });
    const token = await double.mintToken(fullName, { contents: 'write', issues: 'read' });
    const reader = new Octokit({ baseUrl: double.apiUrl, auth: token, log: silent });
    const issue = { ...repo, issue_number: number };
    expect([
      await outcome(reader.issues.get(issue)),
      await outcome(reader.issues.addLabels({ ...issue, labels: ['bug'] })),
      await outcome(reader.issues.createLabel({ ...repo, name: 'x' })),
      await outcome(reader.pulls.create({ ...repo, title: 't', head: 'x', base: 'main' })),
    ]).toEqual([
      200,
      '403 Resource not accessible by integration',
      '403 Resource not accessible by integration',
      '403 Resource not accessible by integration',
    ]);
  });
});
