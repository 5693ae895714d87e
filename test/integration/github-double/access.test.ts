import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Octokit } from '@octokit/rest';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';
import { signAppJwt } from '../../support/github/sign-app-jwt.ts';

const repo = { owner: 'acme', repo: 'shop' };
let double: GitHubDouble;
let installationId: number;
let headSha: string;

const silent = { debug() {}, info() {}, warn() {}, error() {} };
const as = (auth?: string) =>
  new Octokit({ baseUrl: double.apiUrl, log: silent, ...(auth === undefined ? {} : { auth }) });
const outcome = (promise: Promise<{ status: number }>) =>
  promise.then(
    (r) => r.status,
    (e: { status: number }) => e.status,
  );

beforeAll(async () => {
  double = await createGitHubDouble();
  ({ installationId } = await double.createRepository({ fullName: 'acme/shop', files: { a: '1\n' } }));
  await double.createRepository({ fullName: 'acme/other', files: { a: '1\n' } });
  await double.createRepository({ fullName: 'else/where', files: { a: '1\n' } });
  const opened = await double.openPullRequest('acme/shop', { branch: 'x', files: { a: '2\n' }, fork: 'zoe' });
  headSha = opened.headSha;
});
afterAll(async () => {
  expect([double.unexpected, double.violations]).toEqual([[], []]);
  await double.close();
});

describe('the app', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs1',
    format: 'pem',
  });
  it.each([
    ['a proper one', {}, 200],
    ['the client id as issuer', { iss: 'Iv1.8a61f9b3a7aba766' }, 200],
    ['another issuer', { iss: 1 }, 401],
    ['an expired one', { iat: now() - 900, exp: now() - 300 }, 401],
    ['one that lives too long', { exp: now() + 900 }, 401],
    ['one from the future', { iat: now() + 300, exp: now() + 600 }, 401],
  ])('is known by its JWT: %s', async (_, claims, expected) => {
    expect(await outcome(as(signAppJwt(double.app, claims)).apps.getAuthenticated())).toBe(expected);
  });

  it('is not known by another key', async () => {
    const jwt = signAppJwt({ id: double.app.id, privateKey: String(other) });
    expect(await outcome(as(jwt).apps.getAuthenticated())).toBe(401);
  });

  it('narrows tokens by repository and permission', async () => {
    const app = as(signAppJwt(double.app));
    const { data } = await app.apps.createInstallationAccessToken({
      installation_id: installationId,
      repositories: ['shop'],
      permissions: { contents: 'read' },
    });
    expect([data.permissions, data.repository_selection, data.repositories?.map((r) => r.full_name)]).toEqual(
      [{ metadata: 'read', contents: 'read' }, 'selected', ['acme/shop']],
    );
    const narrow = as(data.token);
    expect([
      await outcome(narrow.repos.get(repo)),
      await outcome(narrow.repos.get({ owner: 'acme', repo: 'other' })),
      await outcome(narrow.checks.create({ ...repo, name: 'x', head_sha: headSha })),
      await outcome(narrow.apps.getAuthenticated()),
    ]).toEqual([200, 404, 403, 401]);
    const wide = app.apps.createInstallationAccessToken({
      installation_id: installationId,
      permissions: { actions: 'write' },
    });
    expect(await outcome(wide)).toBe(422);
  });

  it('gets tokens of either form, which expire, and none for repositories elsewhere', async () => {
    await double.setTokenOptions({ form: 'long' });
    const long = await double.mintToken('acme/shop');
    expect(long).toMatch(/^ghs_\d+_[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await outcome(as(long).repos.get(repo))).toBe(200);
    expect(await outcome(as(long).repos.get({ owner: 'else', repo: 'where' }))).toBe(404);
    await double.setTokenOptions({ lifetime: 0, form: 'short' });
    const expired = await double.mintToken('acme/shop');
    await double.setTokenOptions({ lifetime: 3600 });
    expect(await outcome(as(expired).repos.get(repo))).toBe(401);
    expect(await outcome(as().repos.get(repo))).toBe(401);
  });
});

describe('git', () => {
  const fetchFrom = async (secret: string | null, spec: string) => {
    const dir = await mkdtemp(join(tmpdir(), 'double-git-'));
    const header = Buffer.from(`x-access-token:${secret}`).toString('base64');
    const env = {
      GIT_TERMINAL_PROMPT: '0',
      ...(secret === null
        ? {}
        : {
            GIT_CONFIG_COUNT: '1',
            GIT_CONFIG_KEY_0: 'http.extraHeader',
            GIT_CONFIG_VALUE_0: `Authorization: Basic ${header}`,
          }),
    };
    try {
      await execa('git', ['init', '-q', '--bare', dir]);
      const { exitCode } = await execa(
        'git',
        ['--git-dir', dir, 'fetch', '-q', `${double.serverUrl}/acme/shop.git`, spec],
        { env, reject: false },
      );
      if (exitCode !== 0) return exitCode;
      return (await execa('git', ['--git-dir', dir, 'rev-parse', 'FETCH_HEAD'])).stdout;
    } finally {
      await rm(dir, { recursive: true });
    }
  };

  it('serves pull request heads of forks, by ref and by id, to tokens that may read contents', async () => {
    const token = await double.mintToken('acme/shop', { contents: 'read' });
    expect(await fetchFrom(token, 'refs/pull/1/head')).toBe(headSha);
    expect(await fetchFrom(token, headSha)).toBe(headSha);
  });

  it.each([
    ['nobody', async () => null],
    ['an unknown token', async () => 'ghs_unknown'],
    ['a token without contents', () => double.mintToken('acme/shop', { checks: 'write' })],
    ['a token of another account', () => double.mintToken('else/where')],
  ])('refuses %s', async (_, token) => {
    expect(await fetchFrom(await token(), 'refs/heads/main')).toBe(128);
  });

  it('refuses pushes', async () => {
    const url = double.serverUrl.replace('//', `//x-access-token:${await double.mintToken('acme/shop')}@`);
    const { dir } = await double.createRepository({ fullName: 'acme/source', files: { b: '' } });
    const push = await execa('git', ['--git-dir', dir, 'push', `${url}/acme/shop.git`, 'main:evil'], {
      reject: false,
    });
    expect([push.exitCode, push.stderr.includes('403')]).toEqual([128, true]);
  });
});
