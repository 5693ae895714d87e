import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMirrors } from '../../../src/github/mirror.ts';
import { git, initBare, writeHistory } from './build-repository.ts';
import { type GitServer, serveGit } from './serve-git.ts';

const token = 'ghs_canary0123456789';
const repository = { installationId: 1, id: 42, owner: 'octo', name: 'shop' };
const never = new AbortController().signal;

let root: string;
let origin: string;
let server: GitServer;
let base: string;
let head: string;

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'patchfleet-fetch-'));
  origin = join(root, 'origin/octo/shop.git');
  initBare(origin);
  [base = '', head = ''] = writeHistory(origin, [
    [{ path: 'a.txt', content: 'one\n' }],
    [{ path: 'a.txt', content: 'two\n' }],
  ]);
  git(origin, ['update-ref', 'refs/pull/7/head', head]);
  git(origin, ['update-ref', 'refs/heads/main', base]);
  server = await serveGit(join(root, 'origin'), token);
});
afterEach(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

const open = (readToken = async () => token) =>
  createMirrors({ dir: join(root, 'mirrors'), serverUrl: server.url, readToken }).open(repository);

describe('a mirror', () => {
  it('brings head and base in, under private refs alone, and asks GitHub once', async () => {
    const mirror = await open();
    expect(await mirror.has(head)).toBe(false);
    await mirror.fetchPullRequest(7, head, base, never);
    expect([await mirror.has(head), await mirror.has(base)]).toEqual([true, true]);
    expect(await mirror.mergeBase(base, head)).toBe(base);
    const refs = git(mirror.dir, ['for-each-ref', '--format=%(refname)']).toString().trim().split('\n');
    expect(refs.filter((ref) => !ref.startsWith('refs/patchfleet/'))).toEqual([]);
    const asked = server.requests.length;
    await mirror.fetchPullRequest(7, head, base, never);
    await (await open()).fetchPullRequest(7, head, base, never);
    expect(server.requests.length).toBe(asked);
  });

  it('sends the token as a header, and keeps it nowhere', async () => {
    const mirror = await open();
    await mirror.fetchPullRequest(7, head, base, never);
    expect(new Set(server.requests.map((request) => request.url.includes(token)))).toEqual(new Set([false]));
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'grep -rlE "$1|$2" "$3" || true',
      'sh',
      token,
      Buffer.from(`x-access-token:${token}`).toString('base64'),
      mirror.dir,
    ]);
    expect(stdout).toBe('');
  });

  it('fetches the exact commit when the pull request moved on', async () => {
    const [, next = ''] = writeHistory(
      origin,
      [[{ path: 'a.txt', content: 'x' }], [{ path: 'a.txt', content: 'y' }]],
      'next',
    );
    git(origin, ['update-ref', 'refs/pull/7/head', next]);
    const mirror = await open();
    await mirror.fetchPullRequest(7, head, base, never);
    expect(String(await mirror.readFile(head, 'a.txt', 100))).toBe('two\n');
    await mirror.fetchPullRequest(7, next, base, never);
    expect(String(await mirror.readFile(next, 'a.txt', 100))).toBe('y');
    expect(await mirror.mergeBase(base, next)).toBe(null);
  });

  it('says that a commit is gone', async () => {
    const mirror = await open();
    const gone = 'd'.repeat(40);
    await expect(mirror.fetchPullRequest(7, gone, base, never)).rejects.toMatchObject({
      code: 'commit_missing',
      detail: gone,
    });
    // A pull request without a ref, for which nothing is left to try.
    await expect(mirror.fetchPullRequest(8, gone, base, never)).rejects.toMatchObject({
      code: 'commit_missing',
    });
    await mirror.fetchPullRequest(7, head, base, never);
  });

  it.each([
    [500, 'github_unavailable'],
    [503, 'github_unavailable'],
    [429, 'github_unavailable'],
    [401, 'github_unavailable'],
    [403, 'github_refused'],
    [404, 'github_refused'],
  ])('tells a server that answers %i as %s, without the token', async (status, code) => {
    const mirror = await open();
    server.mode = { status };
    const error = await mirror.fetchPullRequest(7, head, base, never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/canary|eC1hY2Nlc3M/);
    server.mode = 'serve';
    await mirror.fetchPullRequest(7, head, base, never);
  });

  it('follows no redirection, so that the token goes to no other server', async () => {
    const other = await serveGit(join(root, 'origin'), token);
    const mirror = await open();
    server.mode = { status: 301, location: `${other.url}/octo/shop.git/info/refs?service=git-upload-pack` };
    await expect(mirror.fetchPullRequest(7, head, base, never)).rejects.toMatchObject({
      code: 'github_refused',
    });
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it('tells a server that is not there as unavailable', async () => {
    // A port that nobody is given: one that was given back may be another's by now.
    const options = { dir: join(root, 'mirrors'), serverUrl: 'http://127.0.0.1:1' };
    const mirror = await createMirrors({ ...options, readToken: async () => token }).open(repository);
    await expect(mirror.fetchPullRequest(7, head, base, never)).rejects.toMatchObject({
      code: 'github_unavailable',
    });
  });

  it('passes on why no token could be had', async () => {
    const mirror = await open(() => Promise.reject(new Error('suspended')));
    await expect(mirror.fetchPullRequest(7, head, base, never)).rejects.toThrow('suspended');
  });

  it('stops when it is told to, and works again afterwards', async () => {
    const mirror = await open();
    server.mode = 'hang';
    const stop = new AbortController();
    const fetching = mirror.fetchPullRequest(7, head, base, stop.signal);
    const failed = expect(fetching).rejects.toMatchObject({ code: 'cancelled' });
    await expect.poll(() => server.requests.length, { interval: 5 }).toBeGreaterThan(0);
    stop.abort();
    await failed;
    server.mode = 'serve';
    await mirror.fetchPullRequest(7, head, base, never);
  });

  it('is opened, and its fetch given up, while another fetch into it goes on', async () => {
    const mirrors = createMirrors({
      dir: join(root, 'mirrors'),
      serverUrl: server.url,
      readToken: async () => token,
    });
    const mirror = await mirrors.open(repository);
    server.mode = 'hang';
    const first = new AbortController();
    const hanging = expect(mirror.fetchPullRequest(7, head, base, first.signal)).rejects.toMatchObject({
      code: 'cancelled',
    });
    await expect.poll(() => server.requests.length, { interval: 5 }).toBeGreaterThan(0);
    const second = new AbortController();
    const waiting = expect(
      (await mirrors.open(repository)).fetchBranch('main', second.signal),
    ).rejects.toMatchObject({ code: 'cancelled' });
    second.abort();
    await waiting;
    expect(server.requests).toHaveLength(1);
    server.mode = 'serve';
    first.abort();
    await hanging;
    expect(await mirror.fetchBranch('main', never)).toBe(base);
  });

  it('is made once by many who open and fetch it at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const mirror = await open();
        await mirror.fetchPullRequest(7, head, base, never);
        return String(await mirror.readFile(head, 'a.txt', 100));
      }),
    );
    expect(new Set(all)).toEqual(new Set(['two\n']));
    expect(readdirSync(join(root, 'mirrors'))).toEqual(['42.git']);
  });

  it('is shared by processes that fetch it at once', async () => {
    const script = `
      import { createMirrors } from ${JSON.stringify(new URL('../../../src/github/mirror.ts', import.meta.url).href)};
      const [dir, serverUrl, head, base] = process.argv.slice(1);
      const mirrors = createMirrors({ dir, serverUrl, readToken: async () => ${JSON.stringify(token)} });
      const mirror = await mirrors.open(${JSON.stringify(repository)});
      await mirror.fetchPullRequest(7, head, base, new AbortController().signal);
      console.log(String(await mirror.readFile(head, 'a.txt', 100)).trim());`;
    const run = promisify(execFile);
    const args = ['--input-type=module', '-e', script, join(root, 'mirrors'), server.url, head, base];
    const outputs = await Promise.all([1, 2, 3].map(() => run(process.execPath, args)));
    expect(outputs.map(({ stdout }) => stdout)).toEqual(['two\n', 'two\n', 'two\n']);
    expect(git(join(root, 'mirrors/42.git'), ['fsck', '--connectivity-only']).toString()).toBe('');
  });

  it('is completed where something that is no repository stands in its place, by many at once', async () => {
    mkdirSync(join(root, 'mirrors/42.git'), { recursive: true });
    writeFileSync(join(root, 'mirrors/42.git/HEAD'), 'ref: refs/heads/main\n');
    await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const mirror = await open();
        await mirror.fetchPullRequest(7, head, base, never);
        expect(await mirror.has(head)).toBe(true);
      }),
    );
    expect(readdirSync(join(root, 'mirrors'))).toEqual(['42.git']);
  });

  it('fetches again what a killed fetch left in part', async () => {
    const mirror = await open();
    // The commit is there, its tree is not: as when unpacking stopped half way.
    git(
      mirror.dir,
      ['hash-object', '-w', '-t', 'commit', '--stdin'],
      git(origin, ['cat-file', 'commit', head]),
    );
    expect(await mirror.has(head)).toBe(true);
    await mirror.fetchPullRequest(7, head, base, never);
    expect(String(await mirror.readFile(head, 'a.txt', 100))).toBe('two\n');
  });

  it.each(['', 'main', '--upload-pack=touch x', `${'a'.repeat(40)} b`, 'HEAD'])(
    'takes %j for no commit',
    async (name) => {
      const mirror = await open();
      await expect(mirror.fetchPullRequest(7, name, base, never)).rejects.toMatchObject({ code: 'internal' });
      await expect(mirror.has(name)).rejects.toMatchObject({ code: 'internal' });
    },
  );
});
