import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Octokit } from '@octokit/rest';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';

const repo = { owner: 'acme', repo: 'shop' };
const fullName = 'acme/shop';
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const missing = 'a'.repeat(40);

let double: GitHubDouble;
let octokit: Octokit;
let dir: string;
let headSha: string;
let baseTree: string;

beforeAll(async () => {
  double = await createGitHubDouble();
  ({ dir, headSha } = await double.createRepository({
    fullName,
    files: {
      'a.txt': 'one\n',
      'b/c.txt': 'two\n',
      'b/d.txt': 'three\n',
      'app/[id]/ü.js': 'x\n',
      '.github/workflows/ci.yml': 'on: push\n',
    },
  }));
  octokit = as(await double.mintToken(fullName));
  baseTree = (await git('rev-parse', `${headSha}^{tree}`)).trim();
});
afterAll(async () => {
  expect({ unexpected: double.unexpected, violations: double.violations }).toEqual({
    unexpected: [],
    violations: [],
  });
  await double.close();
});

const as = (auth: string) => new Octokit({ baseUrl: double.apiUrl, auth, log: silent });
const git = async (...args: string[]) =>
  (await execa('git', ['--git-dir', dir, '-c', 'core.quotePath=false', ...args])).stdout;
const message = (promise: Promise<{ status: number }>) =>
  promise.then(
    (r) => r.status as number | string,
    (e: { status: number; response: { data: { message: string } } }) =>
      `${e.status} ${e.response.data.message}`,
  );

type Entry = { path?: string; mode?: string; type?: string; sha?: string | null; content?: string };
const tree = (entries: Entry[], more: object = { base_tree: baseTree }) =>
  octokit.git.createTree({ ...repo, tree: entries as never, ...more });
const file = (path: string, content: string): Entry => ({ path, mode: '100644', type: 'blob', content });
const commit = async (files: Record<string, string>, parents: string[] = [headSha]) => {
  const entries = Object.entries(files).map(([path, content]) => file(path, content));
  const { data } = await tree(entries);
  const made = await octokit.git.createCommit({ ...repo, message: 'm', tree: data.sha, parents });
  return made.data.sha;
};

describe('blobs', () => {
  it('are written as text or base64 and read back, byte for byte', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 128]);
    const text = await octokit.git.createBlob({ ...repo, content: 'ü\r\n' });
    const binary = await octokit.git.createBlob({
      ...repo,
      content: bytes.toString('base64'),
      encoding: 'base64',
    });
    const read = async (sha: string) => {
      const { data } = await octokit.git.getBlob({ ...repo, file_sha: sha });
      return [data.encoding, data.size, Buffer.from(data.content, 'base64').toString('hex')];
    };
    expect([await read(text.data.sha), await read(binary.data.sha)]).toEqual([
      ['base64', 4, Buffer.from('ü\r\n').toString('hex')],
      ['base64', 5, bytes.toString('hex')],
    ]);
  });

  it('are refused where they are too large, no base64 or not there', async () => {
    const create = (content: string, encoding: string) =>
      message(octokit.git.createBlob({ ...repo, content, encoding }));
    expect([
      await create('x'.repeat(40 * 1024 * 1024 + 1), 'utf-8'),
      await create('not base64!', 'base64'),
      await create('x', 'latin1'),
      await message(octokit.git.getBlob({ ...repo, file_sha: missing })),
      await message(octokit.git.getBlob({ ...repo, file_sha: 'abc' })),
      await message(octokit.git.getBlob({ ...repo, file_sha: baseTree })),
    ]).toEqual([
      '422 Validation Failed',
      '422 content is not valid Base64',
      '422 encoding must be "utf-8" or "base64"',
      '404 Not Found',
      '422 The sha parameter must be exactly 40 characters and contain only [0-9a-f].',
      '404 Not Found',
    ]);
  });
});

describe('trees', () => {
  it('add, change, delete and replace over a base as git does', async () => {
    const blob = (await git('rev-parse', `${headSha}:a.txt`)).trim();
    const { data } = await tree([
      file('app/[id]/ü.js', 'y\r\n'),
      { path: 'run.sh', mode: '100755', type: 'blob', sha: blob },
      { path: 'link', mode: '120000', type: 'blob', content: 'a.txt' },
      { path: 'module', mode: '160000', type: 'commit', sha: missing },
      { path: 'b', mode: '100644', type: 'blob', content: 'a file now\n' },
      { path: 'a.txt', mode: '100644', type: 'blob', sha: null },
    ]);
    const listing = (await git('ls-tree', '-r', '--format=%(objectmode) %(path)', data.sha)).split('\n');
    expect(listing).toEqual([
      '100644 .github/workflows/ci.yml',
      '100644 app/[id]/ü.js',
      '100644 b',
      '120000 link',
      '160000 module',
      '100755 run.sh',
    ]);
    expect(await git('cat-file', '-s', `${data.sha}:app/[id]/ü.js`)).toBe('3');
    expect(data.tree.map((entry) => entry.path)).toEqual(['.github', 'app', 'b', 'link', 'module', 'run.sh']);
  });

  it('put whole trees below a path, take whole directories away, and start from nothing', async () => {
    const below = (await git('rev-parse', `${headSha}:b`)).trim();
    const { data: grown } = await tree([
      { path: 'copy', mode: '040000', type: 'tree', sha: below },
      { path: 'b', mode: '040000', type: 'tree', sha: null },
    ]);
    const { data: fresh } = await tree([file('only', '')], {});
    const paths = async (sha: string) => (await git('ls-tree', '-r', '--name-only', sha)).split('\n');
    expect([await paths(grown.sha), await paths(fresh.sha)]).toEqual([
      ['.github/workflows/ci.yml', 'a.txt', 'app/[id]/ü.js', 'copy/c.txt', 'copy/d.txt'],
      ['only'],
    ]);
  });

  it('give the id git gives the same files', async () => {
    const { data } = await tree([file('a.txt', 'changed\n')]);
    const own = await double.commit(fullName, { branch: 'same', files: { 'a.txt': 'changed\n' } });
    expect(data.sha).toBe((await git('rev-parse', `${own}^{tree}`)).trim());
  });

  it.each<[string, Entry[], object | undefined, string]>([
    ['no entries', [], undefined, 'Invalid tree info'],
    ['an absolute path', [file('/x', '')], undefined, 'tree.path cannot start with a slash'],
    ['a way up', [file('a/../x', '')], undefined, 'tree.path contains a malformed path component'],
    [
      'a repository within',
      [file('x/.GIT/config', '')],
      undefined,
      'tree.path contains a malformed path component',
    ],
    [
      'an unknown blob',
      [{ path: 'x', mode: '100644', sha: missing }],
      undefined,
      `tree.sha ${missing} is not a valid blob`,
    ],
    ['a file twice', [file('x', '1'), file('x', '2')], undefined, 'tree contains duplicate file entries'],
    [
      'a deletion of nothing',
      [{ path: 'none', mode: '100644', sha: null }],
      undefined,
      'GitRPC::BadObjectState',
    ],
    [
      'neither content nor id',
      [{ path: 'x', mode: '100644' }],
      undefined,
      'Must supply either tree.sha or tree.content',
    ],
    ['no mode', [{ path: 'x', content: '' }], undefined, 'Must supply a valid tree.mode'],
    ['an unknown base', [file('x', '')], { base_tree: missing }, 'base_tree is not a valid tree oid'],
  ])('are refused for %s', async (_, entries, more, reason) => {
    expect(await message(tree(entries, more))).toBe(`422 ${reason}`);
  });

  it('are refused above 100,000 entries and 7 MB', async () => {
    const many = Array.from({ length: 100_001 }, (_, i) => file(`f${i}`, ''));
    expect([
      await message(tree(many)),
      await message(tree([file('x', 'x'.repeat(7 * 1024 * 1024))])),
    ]).toEqual([
      '422 The tree is too large: at most 100000 entries and 7340032 bytes',
      '422 The tree is too large: at most 100000 entries and 7340032 bytes',
    ]);
  });

  it('are read flat and recursively, by tree, commit or branch', async () => {
    const read = async (tree_sha: string, recursive?: string) => {
      const request = { ...repo, tree_sha, ...(recursive === undefined ? {} : { recursive }) };
      const { data } = await octokit.git.getTree(request);
      return [data.sha, data.truncated, data.tree.map((entry) => `${entry.type} ${entry.path}`)];
    };
    const flat = ['tree .github', 'blob a.txt', 'tree app', 'tree b'];
    const all = [
      'tree .github',
      'tree .github/workflows',
      'blob .github/workflows/ci.yml',
      'blob a.txt',
      'tree app',
      'tree app/[id]',
      'blob app/[id]/ü.js',
      'tree b',
      'blob b/c.txt',
      'blob b/d.txt',
    ];
    expect([await read('main'), await read(headSha, '1'), await read(baseTree, '0')]).toEqual([
      [baseTree, false, flat],
      [baseTree, false, all],
      [baseTree, false, all],
    ]);
    expect(await message(octokit.git.getTree({ ...repo, tree_sha: missing }))).toBe('404 Not Found');
  });
});

describe('commits', () => {
  it('are the app’s and signed where nobody else is named', async () => {
    const { data } = await octokit.git.createCommit({
      ...repo,
      message: 'Fix it\n\nbody ü',
      tree: baseTree,
      parents: [headSha],
    });
    expect([data.author.name, data.committer.name, data.verification.verified, data.message]).toEqual([
      'patchfleet[bot]',
      'GitHub',
      true,
      'Fix it\n\nbody ü',
    ]);
    expect(await git('cat-file', '-p', data.sha)).toContain('gpgsig -----BEGIN PGP SIGNATURE-----');
    const again = await octokit.git.getCommit({ ...repo, commit_sha: data.sha });
    expect(again.data).toEqual(data);
  });

  it('are unverified with an author of their own', async () => {
    const author = { name: 'A', email: 'a@example.com', date: '2026-01-02T03:04:05Z' };
    const { data } = await octokit.git.createCommit({ ...repo, message: 'm', tree: baseTree, author });
    expect([data.author, data.committer, data.verification.reason]).toEqual([author, author, 'unsigned']);
  });

  it('are refused without message, tree or parents that exist', async () => {
    const create = (more: object) =>
      message(octokit.git.createCommit({ ...repo, message: 'm', tree: baseTree, ...more }));
    expect([
      await create({ message: ' ' }),
      await create({ tree: missing }),
      await create({ tree: headSha }),
      await create({ parents: [missing] }),
      await create({ parents: [baseTree] }),
      await create({ parents: ['abc'] }),
      await message(octokit.git.getCommit({ ...repo, commit_sha: missing })),
    ]).toEqual([
      '422 Validation Failed',
      '422 Tree SHA does not exist',
      '422 Tree SHA does not exist',
      '422 Parent SHA does not exist or is not a commit object',
      '422 Parent SHA does not exist or is not a commit object',
      '422 The parents parameter must be exactly 40 characters and contain only [0-9a-f].',
      '404 Not Found',
    ]);
  });
});

describe('refs', () => {
  const create = (ref: string, sha: string) => message(octokit.git.createRef({ ...repo, ref, sha }));
  const update = (ref: string, sha: string, force = false) =>
    message(octokit.git.updateRef({ ...repo, ref, sha, force }));

  it('are made once, moved forwards, forced, found and deleted', async () => {
    const one = await commit({ x: '1' });
    const two = await commit({ x: '2' }, [one]);
    const ref = 'heads/patchfleet/t1';
    expect([
      await create(`refs/${ref}`, one),
      await create(`refs/${ref}`, one),
      await update(ref, two),
      await update(ref, one),
      await update(ref, one, true),
    ]).toEqual([201, '422 Reference already exists', 200, '422 Update is not a fast forward', 200]);
    const read = await octokit.git.getRef({ ...repo, ref });
    const matching = await octokit.git.listMatchingRefs({ ...repo, ref: 'heads/patchfleet/' });
    expect([read.data.object.sha, matching.data.map((r) => r.ref)]).toEqual([one, [`refs/${ref}`]]);
    expect(await double.refs(fullName, 'refs/heads/patchfleet/')).toEqual({ [`refs/${ref}`]: one });
    expect(await message(octokit.git.deleteRef({ ...repo, ref }))).toBe(204);
    expect([
      await message(octokit.git.getRef({ ...repo, ref })),
      await message(octokit.git.deleteRef({ ...repo, ref })),
      await update(ref, one),
    ]).toEqual(['404 Not Found', '422 Reference does not exist', '422 Reference does not exist']);
  });

  it('are made by one of two requests that come at once', async () => {
    const sha = await commit({ x: 'race' });
    const results = await Promise.all([create('refs/heads/race', sha), create('refs/heads/race', sha)]);
    expect(results.sort()).toEqual([201, '422 Reference already exists']);
  });

  it.each([
    [
      'a name outside refs',
      'heads/x',
      null,
      "Reference name must start with 'refs/' and have at least two slashes.",
    ],
    ['a bad name', 'refs/heads/a..b', null, 'refs/heads/a..b is not a valid ref name.'],
    ['an unknown commit', 'refs/heads/x', missing, 'Object does not exist'],
    ['a pull request’s own', 'refs/pull/9/head', null, 'deny updating a hidden ref'],
    ['a name within another’s', 'refs/heads/main/x', null, 'Reference update failed'],
  ])('are refused for %s', async (_, ref, sha, reason) => {
    expect(await create(ref, sha ?? headSha)).toBe(`422 ${reason}`);
  });

  it('are seen by a git fetch', async () => {
    const sha = await commit({ x: 'fetched' });
    await create('refs/heads/fetched', sha);
    const token = await double.mintToken(fullName, { contents: 'read' });
    const url = double.serverUrl.replace('//', `//x-access-token:${token}@`);
    const { stdout } = await execa('git', ['ls-remote', `${url}/acme/shop.git`, 'refs/heads/fetched']);
    expect(stdout).toBe(`${sha}\trefs/heads/fetched`);
  });

  it('of protected branches stay where they are', async () => {
    await double.setProtected(fullName, 'main');
    const tip = await double.commit(fullName, { branch: 'main', files: { z: '1' } });
    const sha = await commit({ x: 'p' }, [tip]);
    const { data } = await octokit.repos.getBranch({ ...repo, branch: 'main' });
    expect([
      data.protected,
      data.commit.sha,
      await update('heads/main', sha),
      await update('heads/main', await commit({ y: '1' }), true),
      await message(octokit.git.deleteRef({ ...repo, ref: 'heads/main' })),
      await message(octokit.repos.getBranch({ ...repo, branch: 'none' })),
    ]).toEqual([
      true,
      tip,
      '422 Changes must be made through a pull request.',
      '422 Cannot force-push to this branch',
      '422 Cannot delete the default branch',
      '404 Branch not found',
    ]);
    await double.setProtected(fullName, 'main', false);
    expect((await octokit.repos.getBranch({ ...repo, branch: 'main' })).data.protected).toBe(false);
  });
});

describe('permissions', () => {
  it('lets nobody write code who may only read it', async () => {
    const reader = as(await double.mintToken(fullName, { contents: 'read', pull_requests: 'write' }));
    const forbidden = '403 Resource not accessible by integration';
    expect([
      await message(reader.git.createBlob({ ...repo, content: 'x' })),
      await message(reader.git.createTree({ ...repo, tree: [file('x', '')] as never })),
      await message(reader.git.createCommit({ ...repo, message: 'm', tree: baseTree })),
      await message(reader.git.createRef({ ...repo, ref: 'refs/heads/x', sha: headSha })),
      await message(reader.git.getTree({ ...repo, tree_sha: baseTree })),
    ]).toEqual([forbidden, forbidden, forbidden, forbidden, 200]);
  });

  it('guards workflows in trees and in refs, but not those that are there already', async () => {
    const path = '.github/workflows/ci.yml';
    await double.updateInstallation('acme', {
      permissions: { contents: 'write', metadata: 'read', workflows: 'write' },
    });
    const mighty = as(await double.mintToken(fullName));
    const weak = as(await double.mintToken(fullName, { contents: 'write' }));
    const entries = [file(path, 'on: release\n')] as never;
    const { data } = await mighty.git.createTree({ ...repo, base_tree: baseTree, tree: entries });
    const make = { ...repo, message: 'm', tree: data.sha, parents: [headSha] };
    const { sha } = (await weak.git.createCommit(make)).data;
    const ref = { ...repo, ref: 'refs/heads/workflow', sha };
    expect([
      await message(weak.git.createTree({ ...repo, base_tree: baseTree, tree: entries })),
      await message(weak.git.createRef(ref)),
      await message(mighty.git.createRef(ref)),
      await message(weak.git.createRef({ ...ref, ref: 'refs/heads/workflow2' })),
    ]).toEqual([
      '403 Resource not accessible by integration',
      `403 refusing to allow a GitHub App to create or update workflow \`${path}\` without \`workflows\` permission`,
      201,
      201,
    ]);
  });
});

describe('checkout', () => {
  it('writes the files of a ref as a clone has them', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'double-checkout-'));
    const to = join(parent, 'tree');
    const sha = await double.commit(fullName, {
      branch: 'out',
      files: { 'run.sh': { mode: '100755', content: 'x' }, 'bin.dat': Buffer.from([0, 255]) },
    });
    expect(await double.checkout(fullName, 'out', to)).toEqual({ sha });
    expect([
      await readFile(join(to, 'app/[id]/ü.js'), 'utf8'),
      [...(await readFile(join(to, 'bin.dat')))],
      (await stat(join(to, 'run.sh'))).mode & 0o111,
    ]).toEqual(['x\n', [0, 255], 0o111]);
    expect([
      await double.fileAt(fullName, 'out', 'run.sh'),
      await double.fileAt(fullName, 'out', 'none'),
      (await double.commitAt(fullName, 'out'))?.tree,
    ]).toEqual(['x', null, (await git('rev-parse', 'out^{tree}')).trim()]);
    await rm(parent, { recursive: true });
  });
});
