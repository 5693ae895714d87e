import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMirrors } from '../../../src/github/mirror.ts';
import type { TreeChange } from '../../../src/github/port.ts';
import { git, initBare, type TreeFile, writeHistory } from '../mirror/build-repository.ts';
import { type GitServer, serveGit } from '../mirror/serve-git.ts';
import { createPatchSetting, never, type PatchSetting } from './patch-setting.ts';

let setting: PatchSetting;
beforeAll(async () => {
  setting = await createPatchSetting();
});
afterAll(async () => await setting.end());

const text = (path: string, content: string, mode: '100644' | '100755' = '100644'): TreeChange => ({
  path,
  file: { mode, content: Buffer.from(content) },
});
const indexes = () => join(setting.mirror.dir, 'patchfleet-indexes');
const paths = (tree: string) =>
  git(setting.mirror.dir, ['ls-tree', '-r', '-z', tree]).toString().split('\0').filter(Boolean);

describe('writeTree', () => {
  it('lets files and directories take each other’s place, whatever the order', async () => {
    const [base = ''] = setting.commits([
      { path: 'a', content: '1' },
      { path: 'd/x', content: '1' },
      { path: 'd/y', content: '1' },
      { path: 'link', mode: '120000', content: 'a' },
      { path: 'module', mode: '160000', content: '1'.repeat(40) },
    ]);
    const changes: TreeChange[] = [
      text('a/b', 'in\n'),
      text('d', 'file\n', '100755'),
      { path: 'a', file: null },
      { path: 'd/x', file: null },
      { path: 'd/y', file: null },
      { path: 'never/was', file: null },
    ];
    const tree = await setting.mirror.writeTree(base, changes);
    expect(tree).toBe(await setting.mirror.writeTree(base, changes.toReversed()));
    expect(paths(tree).map((line) => line.replace(/ \w+ [0-9a-f]+\t/, ' '))).toEqual([
      '100644 a/b',
      '100755 d',
      '120000 link',
      '160000 module',
    ]);
    const blob = paths(tree)[0]?.split(/[ \t]/)[2] ?? '';
    expect(String(await setting.mirror.readBlob(blob, 3))).toBe('in\n');
    await expect(setting.mirror.readBlob(blob, 2)).rejects.toMatchObject({ code: 'diff_too_large' });
    // By blob, and onto a tree.
    const again = await setting.mirror.writeTree(tree, [{ path: 'copy', file: { mode: '100644', blob } }]);
    expect(await setting.mirror.compareTrees(tree, again)).toEqual([
      { path: 'copy', file: { mode: '100644', blob, bytes: 3 }, before: null },
    ]);
  });

  it('writes hundreds of files at once, in parallel, and touches no ref', async () => {
    const [base = ''] = setting.commits([{ path: 'a', content: '1' }]);
    const refs = String(git(setting.mirror.dir, ['for-each-ref']));
    const trees = await Promise.all(
      [1, 2, 3].map((round) => {
        const changes = Array.from({ length: 300 }, (_, index) => text(`d/${index}`, `${round} ${index}`));
        return setting.mirror.writeTree(base, changes);
      }),
    );
    expect(trees.map((tree) => paths(tree).length)).toEqual([301, 301, 301]);
    expect(new Set(trees).size).toBe(3);
    expect(String(git(setting.mirror.dir, ['for-each-ref']))).toBe(refs);
    expect(readdirSync(setting.mirror.dir).filter((name) => /^index|crash/.test(name))).toEqual([]);
    expect(readdirSync(indexes())).toEqual([]);
  });

  it('removes what a killed process left an hour ago, and nothing that may be in use', async () => {
    const [base = ''] = setting.commits([{ path: 'a', content: '1' }]);
    await setting.mirror.writeTree(base, []);
    for (const name of ['index-old', 'index-new']) {
      mkdirSync(join(indexes(), name));
      writeFileSync(join(indexes(), name, 'index.lock'), '');
    }
    const old = new Date(Date.now() - 61 * 60_000);
    utimesSync(join(indexes(), 'index-old'), old, old);
    await setting.mirror.writeTree(base, []);
    expect(readdirSync(indexes())).toEqual(['index-new']);
    rmSync(join(indexes(), 'index-new'), { recursive: true });
  });

  it.each([
    [['../x']],
    [['a//b']],
    [['/a']],
    [['a/.git/config']],
    [['.GIT/x']],
    [['git~1']],
    [['.git ']],
    [['.g\u200cit/x']],
    [['a\\.git']],
    [['x\0y']],
    [['\ud800']],
    [['a', 'a']],
    [['a', 'a/b']],
  ])('refuses %j rather than write something else', async (names) => {
    const [base = ''] = setting.commits([{ path: 'a', content: '1' }]);
    const changes = names.map((name) => text(name, 'x'));
    await expect(setting.mirror.writeTree(base, changes)).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('treesOf and differences', () => {
  it('tell of many at once, in the order they were asked', async () => {
    const odd = Buffer.from([0x64, 0x2f, 0xff]);
    const [one = '', two = ''] = setting.commits(
      [
        { path: 'a', content: '1' },
        { path: 'link', mode: '120000', content: 'a' },
      ],
      [
        { path: 'a', mode: '100755', content: '1' },
        { path: odd, content: '1' },
        { path: 'module', mode: '160000', content: '1'.repeat(40) },
      ],
    );
    const gone = 'e'.repeat(40);
    const trees = await setting.mirror.treesOf([two, gone, one, two]);
    expect([...trees]).toEqual([
      [two, await setting.mirror.treeOf(two)],
      [one, await setting.mirror.treeOf(one)],
    ]);
    const [first = '', second = ''] = [trees.get(one), trees.get(two)];
    expect([...(await setting.mirror.treesOf([first]))]).toEqual([[first, first]]);
    const blob = String(git(setting.mirror.dir, ['rev-parse', `${one}:a`])).trim();
    const link = String(git(setting.mirror.dir, ['rev-parse', `${one}:link`])).trim();
    const there = [
      { path: 'a', before: { mode: '100644', blob }, now: { mode: '100755', blob } },
      { path: 'd/\xff', before: null, now: { mode: '100644', blob } },
      { path: 'link', before: { mode: '120000', blob: link }, now: null },
      { path: 'module', before: null, now: { mode: '160000', blob: '1'.repeat(40) } },
    ];
    const back = there.map(({ path, before, now }) => ({ path, before: now, now: before }));
    const pairs = [
      [first, second],
      [first, first],
      [second, first],
    ] as const;
    expect(await setting.mirror.differences(pairs)).toEqual([there, [], back]);
    expect(await setting.mirror.differences([])).toEqual([]);
    await expect(setting.mirror.differences([[first, gone]])).rejects.toMatchObject({ code: 'git_failed' });
  });
});

describe('commitTree', () => {
  it('makes the same commit of the same arguments, and any message survives', async () => {
    const [base = ''] = setting.commits([{ path: 'a', content: '1' }]);
    const tree = await setting.mirror.treeOf(base);
    const message = '-m "x"\n\n# not a comment\nü\n';
    const commit = await setting.mirror.commitTree(tree, [base], message);
    expect(await setting.mirror.commitTree(tree, [base], message)).toBe(commit);
    const raw = String(git(setting.mirror.dir, ['cat-file', 'commit', commit]));
    expect(raw).toBe(
      `tree ${tree}\nparent ${base}\nauthor Patchfleet <patchfleet@localhost> 1000000000 +0000\n` +
        `committer Patchfleet <patchfleet@localhost> 1000000000 +0000\n\n${message}`,
    );
    expect(await setting.mirror.isAncestor(base, commit)).toBe(true);
    expect(await setting.mirror.isAncestor(commit, base)).toBe(false);
  });
});

describe('mergeTrees', () => {
  const merge = async (base: TreeFile[], ours: TreeChange[], theirs: TreeChange[]) => {
    const [root = ''] = setting.commits(base);
    const side = async (changes: TreeChange[], message: string) =>
      setting.mirror.commitTree(await setting.mirror.writeTree(root, changes), [root], message);
    return await setting.mirror.mergeTrees(await side(ours, 'ours'), await side(theirs, 'theirs'));
  };
  const lines = 'a\nb\nc\nd\ne\nf\ng\nh\n';

  it('merges what does not touch, within one file too', async () => {
    const result = await merge(
      [{ path: 'f', content: lines }],
      [text('f', lines.replace('a', 'A'))],
      [text('f', lines.replace('h', 'H')), text('new', 'n')],
    );
    if (!result.clean) throw new Error('not clean');
    const [root = ''] = setting.commits([{ path: 'f', content: lines }]);
    const expected = [text('f', lines.replace('a', 'A').replace('h', 'H')), text('new', 'n')];
    expect(result.tree).toBe(await setting.mirror.writeTree(root, expected));
  });

  it('follows files to their new names, and leaves what is new in a directory that moved where it was put', async () => {
    const result = await merge(
      [
        { path: 'd/x', content: lines },
        { path: 'd/y', content: 'y' },
      ],
      [{ path: 'd/x', file: null }, { path: 'd/y', file: null }, text('e/x', lines), text('e/y', 'y')],
      [text('d/x', lines.replace('a', 'A')), text('d/new', 'n')],
    );
    if (!result.clean) throw new Error('not clean');
    const [empty = ''] = setting.commits([]);
    const expected = [text('d/new', 'n'), text('e/x', lines.replace('a', 'A')), text('e/y', 'y')];
    expect(result.tree).toBe(await setting.mirror.writeTree(empty, expected));
  });

  it('names the files in conflict exactly, odd ones too, and runs no merge driver of the tree', async () => {
    const names = ['new\nline', 'q"uote', 'ü', 'a b', '-rf'];
    const result = await merge(
      [
        ...names.map((path) => ({ path, content: 'base\n' })),
        { path: '.gitattributes', content: '* merge=union\n' },
        { path: 'gone', content: lines },
      ],
      [...names.map((path) => text(path, 'ours\n')), { path: 'gone', file: null }],
      [...names.map((path) => text(path, 'theirs\n')), text('gone', `${lines}more\n`), text('other', 'x')],
    );
    expect(result).toEqual({ clean: false, conflicts: ['-rf', 'a b', 'gone', 'new\nline', 'q"uote', 'ü'] });
  });

  it('calls histories without a common ancestor a conflict of no file', async () => {
    const [one = ''] = setting.commits([{ path: 'a', content: '1' }]);
    const [other = ''] = setting.commits([{ path: 'b', content: '1' }]);
    expect(await setting.mirror.mergeTrees(one, other)).toEqual({ clean: false, conflicts: [] });
  });

  it('fails, rather than answers, where a commit is missing', async () => {
    const [one = ''] = setting.commits([{ path: 'a', content: '1' }]);
    const missing = setting.mirror.mergeTrees(one, 'd'.repeat(40));
    await expect(missing).rejects.toMatchObject({ code: 'git_failed' });
  });
});

describe('compareTrees and patchText', () => {
  it('tell what differs, sorted, with what was there before', async () => {
    const [from = '', to = ''] = setting.commits(
      [
        { path: 'a', content: '1' },
        { path: 'a.b', content: '1' },
        { path: 'link', mode: '120000', content: 'a' },
        { path: 'run', content: 'x' },
      ],
      [
        { path: 'a/b', content: '1' },
        { path: 'a.b', content: '22' },
        { path: 'run', mode: '100755', content: 'x' },
      ],
    );
    const blob = (commit: string, path: string) =>
      String(git(setting.mirror.dir, ['rev-parse', `${commit}:${path}`])).trim();
    const one = blob(from, 'a');
    expect(await setting.mirror.compareTrees(from, to)).toEqual([
      { path: 'a', file: null, before: { mode: '100644', blob: one } },
      {
        path: 'a.b',
        file: { mode: '100644', blob: blob(to, 'a.b'), bytes: 2 },
        before: { mode: '100644', blob: one },
      },
      { path: 'a/b', file: { mode: '100644', blob: one, bytes: 1 }, before: null },
      { path: 'link', file: null, before: { mode: '120000', blob: blob(from, 'link') } },
      {
        path: 'run',
        file: { mode: '100755', blob: blob(to, 'run'), bytes: 1 },
        before: { mode: '100644', blob: blob(from, 'run') },
      },
    ]);
    await expect(setting.mirror.compareTrees(to, from)).rejects.toMatchObject({
      code: 'patch_refused',
      detail: 'link: is a symlink',
    });
    await expect(setting.mirror.patchText(from, to, 20)).rejects.toMatchObject({ code: 'diff_too_large' });
  });
});

describe('fetchBranch', () => {
  let root: string;
  let origin: string;
  let server: GitServer;
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'patchfleet-branch-'));
    origin = join(root, 'origin/octo/shop.git');
    initBare(origin);
    server = await serveGit(join(root, 'origin'), 'token');
  });
  afterEach(async () => {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  });
  const open = () =>
    createMirrors({
      dir: join(root, 'mirrors'),
      serverUrl: server.url,
      readToken: async () => 'token',
    }).open({ installationId: 1, id: 42, owner: 'octo', name: 'shop' });

  it('gives the head as it is now: new, forced back, gone, and below its own name', async () => {
    const [first = '', second = ''] = writeHistory(
      origin,
      [[{ path: 'a', content: '1' }], [{ path: 'a', content: '2' }]],
      'work',
    );
    const mirror = await open();
    expect(await mirror.fetchBranch('work', never)).toBe(second);
    expect(await mirror.isAncestor(first, second)).toBe(true);
    git(origin, ['update-ref', 'refs/heads/work', first]);
    expect(await mirror.fetchBranch('work', never)).toBe(first);
    git(origin, ['update-ref', '-d', 'refs/heads/work']);
    expect(await mirror.fetchBranch('work', never)).toBe(null);
    git(origin, ['update-ref', 'refs/heads/work/more', second]);
    expect(await mirror.fetchBranch('work/more', never)).toBe(second);
    git(origin, ['update-ref', 'refs/pull/7/head', first]);
    expect(await mirror.fetchPullHead(7, never)).toBe(first);
    expect(await mirror.fetchPullHead(8, never)).toBe(null);
    // Asking again and again leaves one ref for each commit.
    const refs = String(git(mirror.dir, ['for-each-ref', '--format=%(refname)']))
      .trim()
      .split('\n');
    expect(refs.map((ref) => ref.split('/').slice(0, 4).join('/')).sort()).toEqual(
      [first, second].map((sha) => `refs/patchfleet/commits/${sha}`).sort(),
    );
  });

  it('may be asked at once by many processes', async () => {
    const [head = ''] = writeHistory(origin, [[{ path: 'a', content: '1' }]], 'work');
    const mirrors = await Promise.all([open(), open(), open(), open()]);
    const heads = await Promise.all(mirrors.map((mirror) => mirror.fetchBranch('work', never)));
    expect(heads).toEqual([head, head, head, head]);
  });

  it.each(['a:b', '*', '-x..y', 'a b', '', '@{-1}', 'x\0y', 'a.lock'])(
    'knows no branch %j, for there can be none',
    async (branch) => {
      writeHistory(origin, [[{ path: 'a', content: '1' }]], 'work');
      const mirror = await open();
      expect(await mirror.fetchBranch(branch, never)).toBe(null);
      expect(server.requests).toEqual([]);
    },
  );

  it('tells a server that fails from a branch that is not there', async () => {
    const mirror = await open();
    server.mode = { status: 503 };
    await expect(mirror.fetchBranch('work', never)).rejects.toMatchObject({ code: 'github_unavailable' });
  });
});
