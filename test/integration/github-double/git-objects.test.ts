import { afterAll, describe, expect, it } from 'vitest';
import { type Entry, file, fullName, message, missing, openGitData, repo } from './git-data-fixture.ts';

const { double, octokit, git, headSha, baseTree, tree, close } = await openGitData();
afterAll(close);

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
