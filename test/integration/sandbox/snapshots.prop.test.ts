import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSnapshots } from '../../../src/sandbox/bases/snapshots.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { createCopiedWorkspaces } from '../../../src/sandbox/workspaces/copied-workspaces.ts';
import { mountedAt } from '../patches/patch-setting.ts';
import { bareRepository, blob, commitOf, commitTree, type FileMade, git, rawTree } from './git-trees.ts';

const never = new AbortController().signal;
let home: string;
let mirrorDir: string;
let repository: { id: number; mirrorDir: string };
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'patchfleet-snapshots-'));
  mirrorDir = bareRepository(home, 'mirror.git');
  repository = { id: 7, mirrorDir };
});
afterAll(async () => await removeTree(home));

/** What is on the disk, as git would say it: mode, path (bytes as latin1), content. */
function filesOnDisk(root: string): [string, string, string][] {
  const found: [string, string, string][] = [];
  const walk = (path: Buffer) => {
    for (const name of readdirSync(
      path.length === 0 ? root : Buffer.concat([Buffer.from(`${root}/`), path]),
      {
        encoding: 'buffer',
      },
    )) {
      const inner = path.length === 0 ? name : Buffer.concat([path, Buffer.from('/'), name]);
      if (inner.toString('latin1') === '.git') continue;
      const absolute = Buffer.concat([Buffer.from(`${root}/`), inner]);
      const stat = lstatSync(absolute);
      const text = inner.toString('latin1');
      if (stat.isDirectory()) walk(inner);
      else if (stat.isSymbolicLink()) {
        found.push(['120000', text, readlinkSync(absolute, { encoding: 'buffer' }).toString('latin1')]);
      } else {
        const mode =
          (stat.mode & 0o777) === 0o755 ? '100755' : (stat.mode & 0o777) === 0o644 ? '100644' : 'other';
        found.push([mode, text, readFileSync(absolute).toString('latin1')]);
      }
    }
  };
  walk(Buffer.alloc(0));
  return found.sort();
}

const component = fc.oneof(
  fc.constantFrom(
    'app',
    '[id]',
    '-rf',
    'new\nline',
    'q"uote\'s',
    'über',
    ' ',
    'tab\t',
    '*',
    'a\\b',
    '.gitignore',
    '...',
  ),
  fc
    .uint8Array({ minLength: 1, maxLength: 6 })
    .map((bytes) =>
      Buffer.from(bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0x5f : byte))).toString('latin1'),
    ),
);
const path = fc
  .array(component, { minLength: 1, maxLength: 3 })
  .filter((parts) => parts.every((part) => part !== '.' && part !== '..'))
  .map((parts) => parts.join('/'));
const content = fc.oneof(
  fc
    .constantFrom('', 'no newline', 'a\r\nb\r\n', '\ufeffbom\n', '* text=auto\n', '$Id$\n')
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);
const file = fc.oneof(
  fc.record({ mode: fc.constantFrom('100644' as const, '100755' as const), path, content }),
  fc.record({
    mode: fc.constant('120000' as const),
    path,
    content: fc.constantFrom('x', './y/z').map(Buffer.from),
  }),
);
/** No path twice, none the directory of another; attributes that would rewrite files as the worst case. */
const tree = fc.array(file, { maxLength: 12 }).map((files) => {
  const attributes = {
    mode: '100644' as const,
    path: '.gitattributes',
    content: Buffer.from('* text=auto eol=crlf ident\n'),
  };
  const kept: typeof files = [attributes];
  for (const candidate of files) {
    const clash = kept.some(
      ({ path: other }) =>
        other === candidate.path ||
        other.startsWith(`${candidate.path}/`) ||
        candidate.path.startsWith(`${other}/`),
    );
    if (!clash) kept.push(candidate);
  }
  return kept.map((made): FileMade => ({ ...made, path: Buffer.from(made.path, 'latin1') }));
});

describe('a snapshot', () => {
  it('is the tree of its commit byte by byte, and clean to git in a workspace made from it', async () => {
    const snapshots = createSnapshots({ dir: join(home, 'property') });
    const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    const workspaces = createCopiedWorkspaces({ root: join(home, 'workspaces'), worker: 'tester', user });
    await fc.assert(
      fc.asyncProperty(tree, async (files) => {
        const snapshot = await snapshots.ensure(repository, commitOf(mirrorDir, files), never);
        const expected = files.map(({ mode, path: name, content: bytes }) => [
          mode,
          name.toString('latin1'),
          bytes.toString('latin1'),
        ]);
        expect(filesOnDisk(snapshot)).toEqual(expected.sort());

        const workspace = await workspaces.create({ snapshot }, never);
        // Only here, in the test's own tree: the product never runs git on a workspace.
        const status = execFileSync('git', ['-C', mountedAt(workspace), 'status', '--porcelain'], {
          env: { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null' },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        expect(status.toString()).toBe('');
        await workspace.remove();
      }),
      { numRuns: 15 },
    );
    expect(readdirSync(join(home, 'workspaces'))).toEqual([]);
  });

  it('leaves out what would lead astray, and says so', async () => {
    const oid = blob(mirrorDir, Buffer.from('content\n'));
    const link = (target: string) => blob(mirrorDir, Buffer.from(target));
    const inner = rawTree(mirrorDir, [{ mode: '100644', name: 'config', oid }]);
    const throughLink = rawTree(mirrorDir, [{ mode: '100644', name: 'planted', oid }]);
    const root = rawTree(mirrorDir, [
      { mode: '40000', name: '..', oid: inner },
      { mode: '40000', name: '.GIT', oid: inner },
      { mode: '120000', name: 'absolute', oid: link('/etc') },
      { mode: '120000', name: 'inside', oid: link('kept') },
      { mode: '100644', name: 'kept', oid },
      { mode: '120000', name: 'out', oid: link('../../outside') },
      { mode: '160000', name: 'submodule', oid: '1'.repeat(40) },
      { mode: '120000', name: 'twice', oid: link('..') },
      { mode: '40000', name: 'twice', oid: throughLink },
    ]);
    const commit = commitTree(mirrorDir, root);
    const snapshot = await createSnapshots({ dir: join(home, 'astray') }).ensure(repository, commit, never);
    expect(filesOnDisk(snapshot)).toEqual([
      ['100644', 'kept', 'content\n'],
      ['100644', 'twice/planted', 'content\n'],
      ['120000', 'inside', 'kept'],
    ]);
    expect(readdirSync(join(snapshot, 'submodule'))).toEqual([]);
    expect(JSON.parse(readFileSync(join(snapshot, '..', 'skipped.json'), 'utf8'))).toEqual([
      { path: '../config', reason: 'has an empty, `.` or `..` component' },
      { path: '.GIT/config', reason: 'has a `.git` component' },
      { path: 'absolute', reason: 'is a symlink to an absolute path' },
      { path: 'out', reason: 'is a symlink that leads out of the tree' },
      { path: 'twice', reason: 'is a symlink that leads out of the tree' },
    ]);
  });

  it('leaves out what no disk takes: names that are too long, also of directories, and paths', async () => {
    const long = 'x'.repeat(256);
    const level = `${'d'.repeat(199)}/`;
    const deep = `${level.repeat(15)}f`;
    const named = (path: string) => ({
      ...{ mode: '100644' as const, path: Buffer.from(path), content: Buffer.from('content\n') },
    });
    const fitting = [`${'y'.repeat(255)}/${'z'.repeat(255)}`, `${level.repeat(14)}${'f'.repeat(200)}`];
    const commit = commitOf(mirrorDir, [long, `a/${long}/f`, deep, ...fitting].map(named));
    const snapshot = await createSnapshots({ dir: join(home, 'long') }).ensure(repository, commit, never);
    expect(filesOnDisk(snapshot)).toEqual(fitting.map((path) => ['100644', path, 'content\n']).toSorted());
    const skipped = readFileSync(join(snapshot, '..', 'skipped.json'), 'utf8');
    expect(JSON.parse(skipped)).toEqual([
      { path: `a/${long}/f`, reason: 'has too long a name' },
      { path: deep, reason: 'has too long a path' },
      { path: long, reason: 'has too long a name' },
    ]);
  });

  it('is made once for many who ask at once, here and elsewhere', async () => {
    const commit = commitOf(mirrorDir, [
      { mode: '100644', path: Buffer.from('a/b'), content: Buffer.alloc(3_000_000, 'x') },
    ]);
    const dir = join(home, 'once');
    // Two instances share nothing but the directory, as two processes do.
    const stores = [createSnapshots({ dir }), createSnapshots({ dir })];
    const places = await Promise.all(
      [...stores, ...stores].map((snapshots) => snapshots.ensure(repository, commit, never)),
    );
    expect(new Set(places)).toEqual(new Set([join(dir, '7', commit, 'tree')]));
    expect(readdirSync(join(dir, '7'))).toEqual([commit]);
    expect(readFileSync(join(dir, '7', commit, 'tree', 'a', 'b')).length).toBe(3_000_000);
  });

  it('is held against its digest once in each process, and made anew where it does not match', async () => {
    const commit = commitOf(mirrorDir, [
      { mode: '100644', path: Buffer.from('a/b'), content: Buffer.from('one\n') },
      { mode: '120000', path: Buffer.from('link'), content: Buffer.from('a/b') },
    ]);
    const dir = join(home, 'digest');
    const place = join(dir, '7', commit);
    const warned: object[] = [];
    const ensure = () =>
      createSnapshots({ dir, log: { warn: (fields) => void warned.push(fields) } }).ensure(
        repository,
        commit,
        never,
      );
    const snapshot = await ensure();
    const made = statSync(place).ino;
    await ensure();
    expect(statSync(place).ino).toBe(made);

    const damages: ((file: string) => void)[] = [
      // Of the same size, and its time put back.
      (file) => {
        const { atime, mtime } = statSync(file);
        writeFileSync(file, 'two\n');
        utimesSync(file, atime, mtime);
      },
      (file) => chmodSync(file, 0o755),
      (file) => rmSync(file),
      (file) => writeFileSync(join(dirname(file), 'more'), ''),
      () => rmSync(join(place, 'kept.json')),
      () => rmSync(snapshot, { recursive: true }),
    ];
    for (const damage of damages) {
      damage(join(snapshot, 'a', 'b'));
      warned.length = 0;
      expect(await ensure()).toBe(snapshot);
      expect(warned).toEqual([{ snapshot: place }]);
      expect(filesOnDisk(snapshot)).toEqual([
        ['100644', 'a/b', 'one\n'],
        ['120000', 'link', 'a/b'],
      ]);
    }
    warned.length = 0;
    await ensure();
    expect(warned).toEqual([]);
    // Those who still read one that was damaged have it for a while.
    expect(readdirSync(join(dir, '7')).filter((name) => name.startsWith('.old-'))).toHaveLength(
      damages.length,
    );
  });

  it('is one that git knows unread, and its owner may write', async () => {
    const commit = commitOf(mirrorDir, [
      { mode: '100644', path: Buffer.from('.gitattributes'), content: Buffer.from('* text=auto eol=crlf\n') },
      { mode: '100755', path: Buffer.from('a/b'), content: Buffer.from('one\r\n') },
    ]);
    const dir = join(home, 'index');
    const snapshot = await createSnapshots({ dir }).ensure(repository, commit, never);
    const tree = git(mirrorDir, ['rev-parse', `${commit}^{tree}`])
      .toString()
      .trim();
    const user = sandboxUser();
    for (const name of ['index', `patchfleet-${tree}.index`]) {
      const index = join(snapshot, '.git', name);
      // `diff-files` goes by what the index remembers, and reads nothing.
      const env = { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_INDEX_FILE: index };
      const args = [`--git-dir=${snapshot}/.git`, `--work-tree=${snapshot}`, 'diff-files', '--name-only'];
      expect(execFileSync('git', args, { env }).toString()).toBe('');
      expect(statSync(index)).toMatchObject(user);
    }
    for (const name of ['', 'a', 'a/b', '.git', '.git/HEAD']) {
      const stats = statSync(join(snapshot, name));
      expect({
        name,
        uid: stats.uid,
        writable: (stats.mode & 0o200) !== 0,
        others: stats.mode & 0o022,
      }).toEqual({
        ...{ name, uid: user.uid, writable: true, others: 0 },
      });
    }
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  it('fails with commit_missing for a commit the mirror does not have, and leaves nothing', async () => {
    const dir = join(home, 'missing');
    await expect(createSnapshots({ dir }).ensure(repository, '0'.repeat(40), never)).rejects.toMatchObject({
      code: 'commit_missing',
    });
    expect(readdirSync(join(dir, '7'))).toEqual([]);
  });
});

it('an empty commit makes an empty snapshot', async () => {
  const commit = commitTree(mirrorDir, rawTree(mirrorDir, []));
  const snapshot = await createSnapshots({ dir: join(home, 'empty') }).ensure(repository, commit, never);
  expect(filesOnDisk(snapshot)).toEqual([]);
});

it('removing a tree follows no symlink and minds neither modes nor names', async () => {
  const dir = join(home, 'stubborn');
  const script =
    'mkdir -p "$1/outside" "$1/in/locked/deep"; echo keep > "$1/outside/file"; ln -s ../outside "$1/in/link";' +
    'touch "$1/in/locked/deep/$(printf \'bad\\377name\\n-rf\')"; chmod 000 "$1/in/locked/deep" "$1/in/locked"';
  execFileSync('sh', ['-c', script, 'sh', dir]);
  await removeTree(join(dir, 'in'));
  expect(readdirSync(dir)).toEqual(['outside']);
  expect(readFileSync(join(dir, 'outside', 'file'), 'utf8')).toBe('keep\n');
  await removeTree(join(dir, 'in'));
});
