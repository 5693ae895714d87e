import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Octokit } from '@octokit/rest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';
import { type RemoteGitHubDouble, spawnGitHubDouble } from '../../support/github/spawn-github-double.ts';

const repo = { owner: 'acme', repo: 'shop' };
const fullName = 'acme/shop';
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const client = (baseUrl: string, auth: string) => new Octokit({ baseUrl, auth, log: silent });
const outcome = (promise: Promise<{ status: number }>) =>
  promise.then(
    (r) => r.status,
    (e: { status: number }) => e.status,
  );

describe('the double in this process', () => {
  interface Received {
    event: string;
    action: string;
    sender: string;
    signed: boolean;
  }
  const received: Received[] = [];
  const receiver = createServer((request, response) => void receive(request, response));
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const mac = createHmac('sha256', double.app.webhookSecret).update(body).digest('hex');
    const payload = JSON.parse(body.toString()) as { action: string; sender: { login: string } };
    received.push({
      event: String(request.headers['x-github-event']),
      action: payload.action,
      sender: payload.sender.login,
      signed: request.headers['x-hub-signature-256'] === `sha256=${mac}`,
    });
    response.writeHead(202).end();
  }
  let double: GitHubDouble;
  let octokit: Octokit;
  let headSha: string;
  let number: number;

  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const webhookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    double = await createGitHubDouble({ webhookUrl, echo: true });
    await double.createRepository({ fullName, files: { a: '1\n' } });
    ({ headSha, number } = await double.openPullRequest(fullName, { branch: 'x', files: { a: '2\n' } }));
    octokit = client(double.apiUrl, await double.mintToken(fullName));
  });
  afterAll(async () => {
    await double.close();
    receiver.close();
  });
  afterEach(() => {
    received.length = 0;
  });

  it('signs events and fills them as GitHub describes them, echoes of own writes included', async () => {
    const issue = { ...repo, issue_number: number };
    const pushed = await double.pushToPullRequest(fullName, number, { files: { a: '3\n' } });
    headSha = pushed.headSha;
    await double.comment(fullName, number, { author: 'zoe', body: 'hi' });
    const { data: mine } = await octokit.issues.createComment({ ...issue, body: 'own' });
    await double.settled();
    await octokit.issues.updateComment({ ...repo, comment_id: mine.id, body: 'own, edited' });
    const { data: run } = await octokit.checks.create({ ...repo, name: 'c', head_sha: headSha });
    await double.settled();
    await octokit.checks.update({ ...repo, check_run_id: run.id, conclusion: 'success' });
    await double.settled();
    await octokit.pulls.createReview({ ...repo, pull_number: number, event: 'COMMENT', body: 'b' });
    await double.settled();
    const press = { sender: 'zoe', identifier: 'fix' };
    await double.pressCheckRun(fullName, run.id, { ...press, action: 'requested_action' });
    await double.pressCheckRun(fullName, run.id, { sender: 'zoe', action: 'rerequested' });
    expect(received.map((r) => `${r.event}.${r.action} ${r.sender} ${r.signed}`)).toEqual([
      'pull_request.opened mona true',
      'pull_request.synchronize mona true',
      'issue_comment.created zoe true',
      'issue_comment.created patchfleet[bot] true',
      'issue_comment.edited patchfleet[bot] true',
      'check_run.created patchfleet[bot] true',
      'check_run.completed patchfleet[bot] true',
      'pull_request_review.submitted patchfleet[bot] true',
      'check_run.requested_action zoe true',
      'check_run.rerequested zoe true',
    ]);
    expect([double.unexpected, double.violations]).toEqual([[], []]);
  });

  it('redelivers under the same id', async () => {
    const first = await double.deliver('ping', { action: 'x', sender: { login: 's' } }, { id: 'abc' });
    const second = await double.redeliver('abc');
    expect([first.id, first.status, second.id, second.status]).toEqual(['abc', 202, 'abc', 202]);
  });

  it('notes routes it does not have and requests against the description', async () => {
    const spoiled = await createGitHubDouble();
    await spoiled.createRepository({ fullName, files: { a: '1\n' } });
    const api = client(spoiled.apiUrl, await spoiled.mintToken(fullName));
    const annotation = { path: 'a', start_line: 1, end_line: 1, annotation_level: 'notice', message: 'm' };
    const output = { title: 't', summary: 's', annotations: Array.from({ length: 51 }, () => annotation) };
    const create = (more: object) =>
      outcome(api.checks.create({ ...repo, name: 'x', head_sha: headSha, ...more }));
    expect([
      await outcome(api.repos.listBranches(repo)),
      await create({ output }),
      await create({ output: { title: 't', summary: 'x'.repeat(65_536) } }),
      await create({ actions: [{ label: 'x'.repeat(21), description: 'd', identifier: 'i' }] }),
      await create({ invented: true }),
      await outcome(api.repos.getContent({ ...repo, path: 'a', invented: 1 } as never)),
    ]).toEqual([501, 422, 422, 422, 422, 422]);
    expect([spoiled.unexpected.length, spoiled.violations.length]).toEqual([1, 5]);
    await spoiled.close();
  });

  it('limits, fails before or after the effect, drops, and tells of each write once it took effect', async () => {
    const comment = (body: string) =>
      outcome(octokit.issues.createComment({ ...repo, issue_number: number, body }));
    const seen: string[] = [];
    const stop = double.faults.onWrite(
      (entry) => void seen.push(String((entry.body as { body: string }).body)),
    );
    double.faults.limitWrites(1, { status: 429, retryAfter: 2 });
    const limited = await comment('limited');
    double.faults.failNext('POST /repos/{owner}/{repo}/issues', 502);
    const before = await comment('before');
    double.faults.failNext('/issues/{issue_number}/comments', 502, { applied: true });
    const after = await comment('after');
    double.faults.arm(1, 'drop');
    const dropped = await comment('dropped');
    const fine = await comment('fine');
    stop();
    expect([limited, before, after, dropped, fine]).toEqual([429, 502, 502, 500, 201]);
    expect(seen).toEqual(['after', 'dropped', 'fine']);
    const last = double.writes().slice(-3);
    expect(last.map((w) => [w.route, w.status])).toEqual([
      ['POST /repos/{owner}/{repo}/issues/{issue_number}/comments', 502],
      ['POST /repos/{owner}/{repo}/issues/{issue_number}/comments', null],
      ['POST /repos/{owner}/{repo}/issues/{issue_number}/comments', 201],
    ]);
    await double.settled();
  });
});

describe('the double as a process of its own', () => {
  let remote: RemoteGitHubDouble;
  beforeAll(async () => {
    remote = await spawnGitHubDouble();
  });
  afterAll(() => remote.close());

  it('is driven over HTTP and holds a write until its client is gone', async () => {
    await remote.createRepository({ fullName, files: { 'b.bin': Buffer.from([0, 1]), a: '1\n' } });
    const { headSha } = await remote.openPullRequest(fullName, { branch: 'x', files: { a: '2\n' } });
    const octokit = client(remote.apiUrl, await remote.mintToken(fullName));
    await remote.faults({ afterWrite: 2, action: 'hold' });
    await octokit.checks.create({ ...repo, name: 'one', head_sha: headSha });
    const abort = new AbortController();
    const hanging = outcome(
      octokit.checks.create({ ...repo, name: 'two', head_sha: headSha, request: { signal: abort.signal } }),
    );
    const held = await remote.held({ timeoutMs: 60_000 });
    expect(held?.body).toMatchObject({ name: 'two' });
    abort.abort();
    await hanging;
    expect((await remote.checkRuns(fullName)).map((r) => r.name)).toEqual(['one', 'two']);
    expect((await remote.appliedWrites()).map((w) => w.status)).toEqual([201, null]);
    expect(await remote.problems()).toEqual({ unexpected: [], violations: [] });
  });

  it('takes issues, labels and pushes, and tells of refs and files', async () => {
    const other = 'acme/other';
    await remote.createRepository({ fullName: other, files: { a: '1\n' } });
    const { number } = await remote.openIssue(other, { title: 'one', labels: ['bug'] });
    await remote.addLabel(other, number, 'patchfleet:batch', { sender: 'zoe' });
    const { sha } = await remote.push(other, { branch: 'main', files: { a: Buffer.from('2\n') } });
    const { number: pull } = await remote.openPullRequest(other, { branch: 'x', files: { b: '' } });
    const merged = await remote.mergePullRequest(other, pull);
    expect({
      issues: (await remote.issues(other)).map((issue) => [issue.title, issue.labels]),
      pulls: (await remote.pullRequests(other)).map((p) => [p.number, p.state, p.merged, p.headRef]),
      main: (await remote.refs(other, 'refs/heads/main'))['refs/heads/main'],
      parent: (await remote.commitAt(other, 'main'))?.parents[0],
      file: await remote.fileAt(other, 'main', 'a'),
      problems: await remote.problems(),
    }).toEqual({
      issues: [['one', ['bug', 'patchfleet:batch']]],
      pulls: [[pull, 'closed', true, 'x']],
      main: merged.sha,
      parent: sha,
      file: '2\n',
      problems: { unexpected: [], violations: [] },
    });
  });
});
