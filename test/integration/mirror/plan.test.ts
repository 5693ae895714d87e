import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentSchema } from '../../../src/config/agent-config.ts';
import { limitsSchema } from '../../../src/config/operator-config.ts';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { changesOf } from '../../../src/domain/change.ts';
import { createMirrors } from '../../../src/github/mirror.ts';
import type { Mirror } from '../../../src/github/port.ts';
import { createPlanner, type PlanRequest } from '../../../src/planning/plan-task.ts';
import { git, initBare, type TreeFile, writeHistory } from './build-repository.ts';
import { type GitServer, serveGit } from './serve-git.ts';

const text = Array.from({ length: 12 }, (_, n) => `line ${n}`).join('\n');
const commit = (digit: string) => digit.repeat(40);
const latin1 = (name: string) => Buffer.from(name, 'latin1');

const before: TreeFile[] = [
  { path: 'app/[id]/page.tsx', content: `${text}\n` },
  { path: '-dash', content: 'a\n' },
  { path: 'crlf.txt', content: 'a\r\nb\r\nc\r\n' },
  { path: 'deleted.ts', content: 'gone\n' },
  { path: 'from.ts', content: `${text}\n` },
  { path: 'moved-only.ts', content: `only ${text}\n` },
  { path: 'mode.sh', content: 'echo\n' },
  { path: 'lib', mode: '160000', content: commit('1') },
  { path: 'link', mode: '120000', content: 'a' },
  { path: 'retyped', content: 'a' },
  { path: 'logo.png', content: Buffer.from([0x89, 0, 1]) },
  { path: 'latin1.txt', content: latin1('caf\xe9\n') },
  { path: 'no-newline.txt', content: 'a\nb' },
  { path: '.gitattributes', content: '*.txt diff=evil filter=evil\n*.ts -diff\n' },
];
const after: TreeFile[] = [
  { path: 'app/[id]/page.tsx', content: `${text}\nmore\n` },
  { path: 'app/i/page.tsx', content: 'decoy\n' },
  { path: '-dash', content: 'b\n' },
  { path: 'crlf.txt', content: 'a\r\nB\r\nc\r\n' },
  { path: 'to.ts', content: `${text}\nmore\n` },
  { path: 'moved.ts', content: `only ${text}\n` },
  { path: 'mode.sh', mode: '100755', content: 'echo\n' },
  { path: 'lib', mode: '160000', content: commit('2') },
  { path: 'link', mode: '120000', content: 'b' },
  { path: 'retyped', mode: '120000', content: 'a' },
  { path: 'logo.png', content: Buffer.from([0x89, 0, 2]) },
  { path: 'latin1.txt', content: latin1('th\xe9\n') },
  { path: latin1('na\xefve.txt'), content: 'a\n' },
  { path: 'no-newline.txt', content: 'a\nB' },
  { path: 'new\nline "quoted".txt', content: 'a\n' },
  { path: 'ünï/∑.txt', content: 'a\n' },
  { path: 'large.bin', content: 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n' },
  { path: 'huge.txt', content: 'x\n'.repeat(1024) },
  { path: 'empty', content: '' },
  { path: 'pkg/package.json', content: '{}\n' },
  { path: '.gitattributes', content: '*.txt diff=evil filter=evil\n*.ts -diff\n' },
];

let root: string;
let server: GitServer;
let mirror: Mirror;
let base: string;
let head: string;
let request: PlanRequest;
let planner: ReturnType<typeof createPlanner>;
const signal = new AbortController().signal;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'patchfleet-plan-'));
  const origin = join(root, 'origin/octo/shop.git');
  initBare(origin);
  [base = '', head = ''] = writeHistory(origin, [before, after]);
  git(origin, ['update-ref', 'refs/pull/7/head', head]);
  server = await serveGit(join(root, 'origin'), 'token');
  const mirrors = createMirrors({
    dir: join(root, 'mirrors'),
    serverUrl: server.url,
    readToken: async () => 'token',
  });
  planner = createPlanner({ mirrors });
  const repository = { installationId: 1, id: 42, owner: 'octo', name: 'shop' };
  mirror = await mirrors.open(repository);
  request = {
    repository,
    pullRequest: { number: 7, headSha: head, baseSha: base, baseRef: 'main', title: 'T', body: 'B' },
    config: repositoryConfigSchema.parse({}),
    agents: [agentSchema.parse({ name: 'reviewer', kind: 'model' })],
    limits: limitsSchema.parse({ file_kib: 1 }),
  };
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

const reviewed = [
  '-dash',
  'app/[id]/page.tsx',
  'app/i/page.tsx',
  'crlf.txt',
  'deleted.ts',
  'link',
  'new\nline "quoted".txt',
  'no-newline.txt',
  'pkg/package.json',
  'to.ts',
  'ünï/∑.txt',
];

describe('a planned review', () => {
  it('has every changed file in a row or among the skipped, by name and reason', async () => {
    const { plan, skipped, mergeBase, coverage } = await planner.plan(request, signal);
    expect(plan.rows.flatMap((row) => row.matrix.inputs).toSorted()).toEqual(reviewed);
    expect(skipped).toEqual([
      { path: 'empty', reason: 'empty file' },
      { path: 'huge.txt', reason: 'larger than 1 KiB' },
      { path: 'large.bin', reason: 'kept in Git LFS' },
      { path: 'latin1.txt', reason: 'not UTF-8 text' },
      { path: 'lib', reason: 'submodule' },
      { path: 'logo.png', reason: 'binary file' },
      { path: 'mode.sh', reason: 'only its mode changed' },
      { path: 'moved.ts', reason: 'renamed without an edit' },
      { path: 'na\\xefve.txt', reason: 'its name is not UTF-8' },
      { path: 'retyped', reason: 'its type changed (file to link or back)' },
    ]);
    expect(mergeBase).toBe(base);
    expect(coverage).toEqual({
      changedFiles: 21,
      reviewedFiles: 11,
      skippedFiles: 10,
      additions: 10,
      deletions: 5,
    });
  });

  it('gives a worker the same changes again, row by row', async () => {
    const { plan, mergeBase } = await planner.plan(request, signal);
    const all = await mirror.changes(mergeBase, head, { maxBytes: 1 << 20 });
    for (const { matrix } of plan.rows) {
      const { changes } = await mirror.changes(mergeBase, head, { maxBytes: 1 << 20, paths: matrix.inputs });
      expect(changesOf(matrix.inputs, changes)).toEqual(changesOf(matrix.inputs, all.changes));
    }
  });

  it('finds a rename by its new name alone', async () => {
    const { changes } = await mirror.changes(base, head, { maxBytes: 1 << 20, paths: ['to.ts'] });
    expect(
      changes.map(({ status, oldPath, path, additions }) => ({ status, oldPath, path, additions })),
    ).toEqual([{ status: 'renamed', oldPath: 'from.ts', path: 'to.ts', additions: 1 }]);
  });

  it('takes brackets in names for themselves', async () => {
    const { changes } = await mirror.changes(base, head, { maxBytes: 1 << 20, paths: ['app/[id]/page.tsx'] });
    expect(changes.map((change) => change.path)).toEqual(['app/[id]/page.tsx']);
  });

  it('refuses a diff above the limit', async () => {
    await expect(mirror.changes(base, head, { maxBytes: 2000 })).rejects.toMatchObject({
      code: 'diff_too_large',
    });
    await expect(mirror.diff([base, head], 100)).rejects.toMatchObject({ code: 'diff_too_large' });
  });

  it('refuses commits without a common ancestor', async () => {
    const origin = join(root, 'origin/octo/shop.git');
    const [alone = ''] = writeHistory(origin, [[{ path: 'x', content: 'x' }]], 'alone');
    const pullRequest = { ...request.pullRequest, headSha: alone };
    await expect(planner.plan({ ...request, pullRequest }, signal)).rejects.toMatchObject({
      code: 'commit_missing',
    });
  });

  it('shards more than 300 files and 20,000 lines', async () => {
    const origin = join(root, 'origin/octo/shop.git');
    const many = Array.from({ length: 900 }, (_, n) => ({
      path: `packages/${n % 6}/src/${n}.ts`,
      content: Array.from({ length: 30 }, (_, line) => `const x${line} = ${n};\n`).join(''),
    }));
    const manifests = Array.from({ length: 6 }, (_, n) => ({
      path: `packages/${n}/go.mod`,
      content: 'module x\n',
    }));
    const [from = '', to = ''] = writeHistory(origin, [manifests, [...manifests, ...many]], 'large');
    const pullRequest = { ...request.pullRequest, headSha: to, baseSha: from };
    const { plan, coverage } = await planner.plan({ ...request, pullRequest }, signal);
    expect(coverage).toMatchObject({ reviewedFiles: 900, skippedFiles: 0, additions: 27_000 });
    expect(plan.rows).toHaveLength(64);
    const inputs = plan.rows.flatMap((row) => row.matrix.inputs);
    expect(new Set(inputs).size).toBe(900);
  });
});

describe('the mirror', () => {
  it('reads blobs by their exact path alone, within the limit', async () => {
    const read = async (path: string, maxBytes = 1000) => String(await mirror.readFile(head, path, maxBytes));
    expect(await read('app/[id]/page.tsx')).toBe(`${text}\nmore\n`);
    expect(await read('new\nline "quoted".txt')).toBe('a\n');
    expect(await read('-dash')).toBe('b\n');
    expect(await read('link')).toBe('b');
    for (const path of [
      'app',
      'app/',
      'lib',
      '',
      '.',
      './-dash',
      'app/*/page.tsx',
      'gone',
      ':(top)-dash',
      '../x',
    ]) {
      expect([path, await read(path)]).toEqual([path, 'null']);
    }
    expect(await read('huge.txt', 2048)).toBe('x\n'.repeat(1024));
    expect(await read('huge.txt', 2047)).toBe('null');
  });

  it('lists the files of a commit whose names are UTF-8', async () => {
    const expected = after.map((file) => file.path).filter((path) => typeof path === 'string');
    expect((await mirror.listTree(head)).toSorted()).toEqual(expected.toSorted());
  });

  it('knows the sizes of blobs that are there', async () => {
    const { changes } = await mirror.changes(base, head, { maxBytes: 1 << 20, paths: ['huge.txt'] });
    const blob = changes[0]?.newBlob ?? '';
    expect(await mirror.blobSizes([blob, commit('0')])).toEqual(new Map([[blob, 2048]]));
    expect(await mirror.blobSizes([])).toEqual(new Map());
  });
});
