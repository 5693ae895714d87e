import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Octokit } from '@octokit/rest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';

const repo = { owner: 'acme', repo: 'shop' };
const fullName = 'acme/shop';
const silent = { debug() {}, info() {}, warn() {}, error() {} };

interface Payload {
  readonly action?: string;
  readonly sender: { readonly login: string };
  readonly [key: string]: unknown;
}

describe('events', () => {
  const received: { event: string; payload: Payload }[] = [];
  const receiver = createServer((request, response) => void receive(request, response));
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const payload = JSON.parse(Buffer.concat(chunks).toString()) as Payload;
    received.push({ event: String(request.headers['x-github-event']), payload });
    response.writeHead(202).end();
  }
  let double: GitHubDouble;
  let octokit: Octokit;
  let baseSha: string;

  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    double = await createGitHubDouble({ webhookUrl, echo: true });
    ({ headSha: baseSha } = await double.createRepository({ fullName, files: { a: '1\n' } }));
    octokit = new Octokit({ baseUrl: double.apiUrl, auth: await double.mintToken(fullName), log: silent });
  });
  afterEach(() => {
    received.length = 0;
  });
  afterAll(async () => {
    expect({ unexpected: double.unexpected, violations: double.violations }).toEqual({
      unexpected: [],
      violations: [],
    });
    await double.close();
    receiver.close();
  });

  const heard = () =>
    received.map(({ event, payload }) => {
      const label = (payload['label'] as { name?: string } | undefined)?.name;
      const name = payload.action === undefined ? event : `${event}.${payload.action}`;
      return `${name}${label === undefined ? '' : ` ${label}`} by ${payload.sender.login}`;
    });
  const written = async (action: Promise<{ status: number }>) => {
    await action;
    await double.settled();
  };

  it('tell what users do to issues', async () => {
    const issue = await double.openIssue(fullName, {
      title: 'one',
      labels: ['bug'],
      author: 'ann',
      deliveryId: 'd1',
    });
    expect(issue.delivery?.id).toBe('d1');
    const n = issue.number;
    await double.addLabel(fullName, n, 'patchfleet:fix', { sender: 'zoe', deliveryId: 'd2' });
    expect(await double.addLabel(fullName, n, 'patchfleet:fix', { sender: 'zoe' })).toBeNull();
    await double.removeLabel(fullName, n, 'bug', { sender: 'zoe' });
    await double.editIssue(fullName, n, { title: 'two', body: 'text', sender: 'ann' });
    const { id } = await double.comment(fullName, n, { author: 'ann', body: '/patchfleet fix' });
    await double.deleteComment(fullName, id);
    await double.lockIssue(fullName, n, { sender: 'zoe' });
    await double.closeIssue(fullName, n, { sender: 'zoe' });
    await double.reopenIssue(fullName, n, { sender: 'zoe' });
    await double.deleteIssue(fullName, n, { sender: 'zoe' });
    expect(heard()).toEqual([
      'issues.opened by ann',
      'issues.labeled bug by ann',
      'issues.labeled patchfleet:fix by zoe',
      'issues.unlabeled bug by zoe',
      'issues.edited by ann',
      'issue_comment.created by ann',
      'issue_comment.deleted by ann',
      'issues.locked by zoe',
      'issues.closed by zoe',
      'issues.reopened by zoe',
      'issues.deleted by zoe',
    ]);
  });

  it('tell what users do to pull requests and their branches', async () => {
    const first = await double.push(fullName, { branch: 'topic', files: { b: '1' }, author: 'ann' });
    const { number } = await double.openPullRequest(fullName, { branch: 'topic', author: 'ann' });
    await double.addLabel(fullName, number, 'patchfleet:fix', { sender: 'zoe' });
    await double.removeLabel(fullName, number, 'patchfleet:fix', { sender: 'zoe' });
    await double.editIssue(fullName, number, { title: 'new', sender: 'ann' });
    const forced = await double.push(fullName, { branch: 'topic', files: { b: '2' }, parent: baseSha });
    await double.closePullRequest(fullName, number, { sender: 'ann' });
    await double.reopenIssue(fullName, number, { sender: 'ann' });
    const { sha } = await double.mergePullRequest(fullName, number, { sender: 'zoe' });
    await double.deleteBranch(fullName, 'topic', { sender: 'zoe' });
    expect(heard()).toEqual([
      'push by ann',
      'pull_request.opened by ann',
      'pull_request.labeled patchfleet:fix by zoe',
      'pull_request.unlabeled patchfleet:fix by zoe',
      'pull_request.edited by ann',
      'push by mona',
      'pull_request.synchronize by mona',
      'pull_request.closed by ann',
      'pull_request.reopened by ann',
      'push by zoe',
      'pull_request.closed by zoe',
      'push by zoe',
    ]);
    const pushes = received.filter(({ event }) => event === 'push').map(({ payload }) => payload);
    const none = '0'.repeat(40);
    expect(
      pushes.map((p) => [p['ref'], p['before'], p['after'], p['created'], p['deleted'], p['forced']]),
    ).toEqual([
      ['refs/heads/topic', none, first.sha, true, false, false],
      ['refs/heads/topic', first.sha, forced.sha, false, false, true],
      ['refs/heads/main', baseSha, sha, false, false, false],
      ['refs/heads/topic', forced.sha, none, false, true, false],
    ]);
    const commits = pushes.map((p) =>
      (p['commits'] as { id: string; added: string[] }[]).map((c) => c.added),
    );
    expect(commits).toEqual([[['b']], [['b']], [['b'], []], []]);
  });

  it('tell of other apps’ checks, and of the suite when its last run ends', async () => {
    const headSha = baseSha;
    await double.addCheckRun(fullName, { headSha, name: 'unit' });
    await double.addCheckRun(fullName, { headSha, name: 'lint', conclusion: 'success' });
    await double.completeCheckSuite(fullName, { headSha, conclusion: 'failure' });
    await double.completeCheckSuite(fullName, { headSha, appId: 9, conclusion: 'success' });
    expect(heard()).toEqual([
      'check_run.completed by github-actions[bot]',
      'check_run.completed by github-actions[bot]',
      'check_suite.completed by github-actions[bot]',
      'check_run.completed by app-9[bot]',
      'check_suite.completed by app-9[bot]',
    ]);
    const suites = received.filter(({ event }) => event === 'check_suite');
    expect(suites.map(({ payload }) => payload['check_suite'])).toMatchObject([
      { head_sha: headSha, conclusion: 'failure', app: { slug: 'github-actions' } },
      { head_sha: headSha, conclusion: 'success', app: { slug: 'app-9' } },
    ]);
  });

  it('tell of the app’s own writes', async () => {
    const { number } = await double.openIssue(fullName, { title: 'x' });
    received.length = 0;
    const issue = { ...repo, issue_number: number };
    await written(octokit.issues.addLabels({ ...issue, labels: ['bug', 'patchfleet:running'] }));
    await written(octokit.issues.setLabels({ ...issue, labels: ['patchfleet:done'] }));
    await written(octokit.issues.removeAllLabels(issue));
    await written(octokit.issues.createLabel({ ...repo, name: 'own' }));
    await written(octokit.issues.createComment({ ...issue, body: 'table' }));
    const { data: tree } = await octokit.git.createTree({
      ...repo,
      base_tree: baseSha,
      tree: [{ path: 'fix', mode: '100644', type: 'blob', content: 'fixed' }],
    });
    const make = { ...repo, message: 'Fix', tree: tree.sha };
    const one = (await octokit.git.createCommit({ ...make, parents: [baseSha] })).data.sha;
    const two = (await octokit.git.createCommit({ ...make, parents: [one] })).data.sha;
    const ref = 'heads/patchfleet/t1';
    await written(octokit.git.createRef({ ...repo, ref: `refs/${ref}`, sha: one }));
    const opening = { ...repo, title: 't', head: 'patchfleet/t1', base: 'main', draft: true };
    const { data: pull } = await octokit.pulls.create(opening);
    await double.settled();
    const of = { ...repo, pull_number: pull.number };
    await written(octokit.issues.addLabels({ ...repo, issue_number: pull.number, labels: ['bug'] }));
    await written(octokit.git.updateRef({ ...repo, ref, sha: two }));
    await written(octokit.git.updateRef({ ...repo, ref, sha: two }));
    await written(octokit.pulls.update({ ...of, body: 'report' }));
    await written(octokit.pulls.update({ ...of, state: 'closed' }));
    await written(octokit.pulls.update({ ...of, state: 'open' }));
    await written(octokit.git.deleteRef({ ...repo, ref }));
    expect(heard().map((line) => line.replace(/ by patchfleet\[bot\]$/, ''))).toEqual([
      'issues.labeled bug',
      'issues.labeled patchfleet:running',
      'issues.unlabeled bug',
      'issues.unlabeled patchfleet:running',
      'issues.labeled patchfleet:done',
      'issues.unlabeled patchfleet:done',
      'issue_comment.created',
      'push',
      'pull_request.opened',
      'pull_request.labeled bug',
      'push',
      'pull_request.synchronize',
      'pull_request.edited',
      'pull_request.closed',
      'pull_request.reopened',
      'push',
      'pull_request.closed',
    ]);
  });

  it('of writes are preceded by the hooks of faults, which see all of them', async () => {
    const seen: string[] = [];
    const stop = double.faults.onWrite((entry) => {
      seen.push(`${entry.method} ${String(entry.route).split('/').at(-1)}`);
      return 'drop';
    });
    const status = (promise: Promise<{ status: number }>) =>
      promise.then(
        (r) => r.status,
        (e: { status: number }) => e.status,
      );
    const sha = baseSha;
    const tip = (await double.refs(fullName))['refs/heads/main'] ?? '';
    const entries = [{ path: 'x', mode: '100644', type: 'blob', content: 'x' }] as never;
    const { tree = '' } = (await double.commitAt(fullName, sha)) ?? {};
    const results = [
      await status(octokit.git.createBlob({ ...repo, content: 'x' })),
      await status(octokit.git.createTree({ ...repo, tree: entries })),
      await status(octokit.git.createCommit({ ...repo, message: 'm', tree })),
      await status(octokit.git.createRef({ ...repo, ref: 'refs/heads/dropped', sha })),
      await status(octokit.git.updateRef({ ...repo, ref: 'heads/dropped', sha: tip })),
      await status(octokit.issues.createLabel({ ...repo, name: 'dropped' })),
      await status(octokit.git.deleteRef({ ...repo, ref: 'heads/dropped' })),
    ];
    stop();
    expect([new Set(results), seen]).toEqual([
      new Set([500]),
      ['POST blobs', 'POST trees', 'POST commits', 'POST refs', 'PATCH {ref}', 'POST labels', 'DELETE {ref}'],
    ]);
    // All of it took effect.
    expect(await double.labels(fullName)).toContain('dropped');
    expect(await double.refs(fullName, 'refs/heads/dropped')).toEqual({});
    await double.settled();
  });
});
