import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { classifyError } from '../../../src/domain/github-problem.ts';
import { createGitHubApp, type GitHubApp } from '../../../src/github/app.ts';
import type { InstallationClient } from '../../../src/github/port.ts';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';

let github: GitHubDouble;
let app: GitHubApp;
let client: InstallationClient;
let made: Awaited<ReturnType<GitHubDouble['createRepository']>>;
let pull: number;
let logged = '';
const owner = 'octo';
const repo = 'sample';

function connect(apiUrl: string, requestTimeoutMs = 60_000): GitHubApp {
  const { id: appId, privateKey, webhookSecret } = github.app;
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  });
  const log = pino({ level: 'trace' }, sink);
  return createGitHubApp({ appId, privateKey, webhookSecret, apiUrl, log, requestTimeoutMs, secondMs: 5 });
}

beforeAll(async () => {
  github = await createGitHubDouble();
  made = await github.createRepository({ fullName: `${owner}/${repo}`, files: { 'a.js': 'one\n' } });
  await github.createRepository({ fullName: `${owner}/other`, files: { 'a.js': 'one\n' } });
  pull = (await github.openPullRequest(made.fullName, { branch: 'work', files: { 'a.js': 'two\n' } })).number;
  app = connect(github.apiUrl);
  client = await app.github.client(made.installationId);
});
afterAll(() => github.close());

const comment = (body: string, by = client) =>
  by.rest.issues.createComment({ owner, repo, issue_number: pull, body });
const failure = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => classifyError(error),
  );
const writesOf = (body: string) =>
  github.journal.filter((entry) => JSON.stringify(entry.body ?? '').includes(`"${body}"`)).length;

describe('the GitHub client', () => {
  it('knows itself, asking once', async () => {
    const [one, two] = await Promise.all([app.github.self(), app.github.self()]);
    expect([one, two]).toEqual([one, { id: github.app.id, slug: github.app.slug }]);
    expect(github.journal.filter((entry) => entry.route === 'GET /app')).toHaveLength(1);
  });

  it('verifies signatures', async () => {
    const body = '{"a":"ü"}';
    const { createHmac } = await import('node:crypto');
    const sign = (secret: string) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    expect([
      await app.verify(body, sign(github.app.webhookSecret)),
      await app.verify(body, sign('other')),
      await app.verify(`${body} `, sign(github.app.webhookSecret)),
    ]).toEqual([true, false, false]);
  });

  it('waits for a rate limit and repeats the write, which was surely not applied', async () => {
    github.faults.limitWrites(2, { status: 403, retryAfter: 2 });
    await comment('limited twice');
    github.faults.limitWrites(1, { status: 429, retryAfter: 1 });
    await comment('limited once');
    const bodies = (await github.comments(made.fullName, pull)).map((entry) => entry.body);
    expect(bodies).toEqual(['limited twice', 'limited once']);
  });

  it('gives a write up that stays limited, as limited', async () => {
    github.faults.limitWrites(4, { retryAfter: 3 });
    expect(await failure(comment('limited for long'))).toMatchObject({
      kind: 'limited',
      status: 403,
      retryAfterMs: 3000,
    });
    expect(writesOf('limited for long')).toBe(4);
  });

  it('does not wait where GitHub says to come back in an hour', async () => {
    github.faults.limitWrites(1, { retryAfter: 3600 });
    expect(await failure(comment('an hour'))).toMatchObject({ kind: 'limited', retryAfterMs: 3_600_000 });
    expect(writesOf('an hour')).toBe(1);
  });

  it('never repeats a write that may have been applied', async () => {
    github.faults.failNext('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', 502, {
      applied: true,
    });
    expect(await failure(comment('answered 502'))).toMatchObject({ kind: 'unavailable', status: 502 });
    github.faults.arm(1, 'drop');
    expect(await failure(comment('dropped'))).toMatchObject({ kind: 'unavailable', status: null });
    expect([writesOf('answered 502'), writesOf('dropped')]).toEqual([1, 1]);
  });

  it('repeats reads that failed, but not those that were answered for good', async () => {
    const read = () => client.rest.pulls.get({ owner, repo, pull_number: pull });
    const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
    const reads = () => github.journal.filter((entry) => entry.route === route).length;
    const before = reads();
    github.faults.failNext(route, 502, { times: 2 });
    await read();
    expect(reads() - before).toBe(3);
    github.faults.failNext(route, 404);
    expect(await failure(read())).toMatchObject({ kind: 'refused', status: 404 });
    expect(reads() - before).toBe(4);
  });

  it('does a burst of writes at once, without waiting a second for each', async () => {
    // One that has written nothing so far.
    const fresh = await connect(github.apiUrl).github.client(made.installationId);
    const start = performance.now();
    await Promise.all(Array.from({ length: 18 }, (_, index) => comment(`burst ${index}`, fresh)));
    // A second or two. The pacing that octokit brings lets one notification go in three seconds: 51 for these.
    expect(performance.now() - start).toBeLessThan(45_000);
  });

  it('goes on with a new token when the old one is refused, for reads and writes', async () => {
    await comment('first');
    await github.revokeTokens();
    await comment('second');
    await github.revokeTokens();
    await client.rest.pulls.get({ owner, repo, pull_number: pull });
    const bodies = (await github.comments(made.fullName, pull)).map((entry) => entry.body);
    expect(bodies.slice(-2)).toEqual(['first', 'second']);
  });

  it('says so when an installation is not there', async () => {
    const nobody = await app.github.client(999_999);
    await expect(nobody.rest.pulls.get({ owner, repo, pull_number: pull })).rejects.toMatchObject({
      code: 'github_refused',
      detail: expect.stringMatching(/^no token for installation 999999: Not Found/),
    });
  });

  it('gives a token that reads the contents of one repository and nothing else', async () => {
    const repository = { installationId: made.installationId, id: made.id, owner, name: repo };
    const token = await app.github.readToken(repository);
    expect(await app.github.readToken(repository)).toBe(token);
    const status = async (path: string, init: RequestInit = {}) =>
      (await fetch(`${github.apiUrl}${path}`, { ...init, headers: { authorization: `token ${token}` } }))
        .status;
    expect([
      await status(`/repos/${owner}/${repo}/contents/a.js`),
      await status(`/repos/${owner}/other/contents/a.js`),
      await status(`/repos/${owner}/${repo}/pulls/${pull}`),
    ]).toEqual([200, 404, 403]);
    const fresh = await app.github.readToken(repository, { instead: token });
    expect(fresh).not.toBe(token);
    expect(await app.github.readToken(repository, { instead: token })).toBe(fresh);
  });

  it('never logs a token, whatever happened above', () => {
    expect(logged).toContain('rate limit');
    expect(logged).not.toMatch(/gh[sp]_|eyJ[\w-]+\./);
  });
});

describe('a GitHub that does not answer', () => {
  let server: Server | null = null;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it('is given up after the time limit of a request', async () => {
    server = createServer(() => {});
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const silent = connect(`http://127.0.0.1:${port}`, 100);
    await expect(silent.github.self()).rejects.toMatchObject({ code: 'github_unavailable' });
    await expect(
      silent.github.readToken({ installationId: 1, id: 1, owner, name: repo }),
    ).rejects.toMatchObject({ code: 'github_unavailable' });
  });
});
