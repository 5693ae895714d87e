import { beforeEach, describe, expect, it } from 'vitest';
import type { TreeChange } from '../../../src/github/port.ts';
import { ensurePatches } from '../../../src/merging/ensure-patches.ts';
import { openGround } from '../../../src/merging/ground.ts';
import { mergePatches } from '../../../src/merging/merge-patches.ts';
import { never } from '../sandbox/docker-setting.ts';
import { createGitSetting, type GitSetting } from './merging-setting.ts';

const files = {
  'crlf.txt': 'one\r\ntwo\r\nthree\r\n',
  'open.txt': 'no end',
  'run.sh': '#!/bin/sh\n',
  'old.txt': `${'the same line\n'.repeat(40)}`,
  'b c/ü [id].txt': 'odd\n',
  '.gitattributes': '* text=auto eol=crlf filter=nothing\n',
};
const changes: TreeChange[] = [
  { path: 'crlf.txt', file: { mode: '100644', content: Buffer.from('one\r\n2\r\nthree') } },
  { path: 'open.txt', file: { mode: '100644', content: Buffer.from('\ufeffno end either') } },
  { path: 'run.sh', file: { mode: '100755', content: Buffer.from('#!/bin/sh\n') } },
  { path: 'old.txt', file: null },
  {
    path: 'new.txt',
    file: { mode: '100644', content: Buffer.from(`${'the same line\n'.repeat(40)}and one\n`) },
  },
  { path: 'b c/ü [id].txt', file: { mode: '100644', content: Buffer.from([0, 255, 1, 2, 3]) } },
  { path: 'empty', file: { mode: '100644', content: Buffer.alloc(0) } },
  { path: 'trailing.txt', file: { mode: '100644', content: Buffer.from('spaces   \n\t \n\n\n') } },
];

const artifacts = new Map<string, Buffer>();
let setting: GitSetting;
let other: GitSetting;
beforeEach(async () => {
  setting = await createGitSetting(files);
  other = await createGitSetting(files);
  return async () => {
    await setting.end();
    await other.end();
  };
});

async function made(list: readonly TreeChange[] = changes, base = setting.head) {
  const { mirror } = setting;
  const tree = await mirror.writeTree(base, list);
  const text = await mirror.patchText(base, tree, 1_000_000);
  const digest = `digest ${artifacts.size}`;
  artifacts.set(digest, text);
  const commit = await mirror.commitTree(tree, [base], 'the message of whoever made it');
  const entries = await mirror.compareTrees(base, tree);
  return { row: { baseCommit: base, tree, digest, entries }, commit };
}

type Row = Awaited<ReturnType<typeof made>>['row'];

async function ensure(place: GitSetting, rows: readonly Row[]) {
  const { mirror, head: anchor } = place;
  const read: string[] = [];
  let applied = 0;
  const placed = await ensurePatches(
    {
      mirror: {
        ...mirror,
        applyPatch: (base, text) => {
          applied += 1;
          return mirror.applyPatch(base, text);
        },
      },
      readArtifact: async (digest) => {
        read.push(digest);
        return artifacts.get(digest) ?? null;
      },
      ...{ anchor, signal: never },
    },
    rows,
  );
  return { placed, read: read.length, applied };
}

const asMade = ({ baseCommit, tree }: Row) => ({ base: baseCommit, tree });
/** Content of all that the patch wrote. */
const contents = async ({ mirror }: GitSetting, { entries }: Row) =>
  await Promise.all(
    entries.flatMap(({ file }) => (file === null ? [] : [mirror.readBlob(file.blob, 1_000_000)])),
  );
const text = (path: string, content: string): TreeChange => ({
  path,
  file: { mode: '100644', content: Buffer.from(content) },
});

describe('what patches wrote', () => {
  it('is left as it is where it is there, and no artifact is read', async () => {
    const { row } = await made();
    expect(await ensure(setting, [row, row])).toEqual({
      ...{ placed: [asMade(row), asMade(row)], read: 0, applied: 0 },
    });
  });

  it('is made of the artifact in another mirror', async () => {
    const { row } = await made();
    expect(other.head).toBe(setting.head);
    expect(await ensure(other, [row])).toEqual({ placed: [asMade(row)], read: 1, applied: 1 });
    expect((await other.mirror.treesOf([row.tree])).has(row.tree)).toBe(true);
    expect(await other.mirror.compareTrees(other.head, row.tree)).toEqual(row.entries);
  });

  it('is made of many artifacts at once, as far as they do not meet', async () => {
    const apart = await Promise.all(
      Array.from({ length: 12 }, (_, at) => made([text(`new/${at}`, `${at}\n`)])),
    );
    const rows = [...apart, await made([text('new/3/below', 'x\n')]), await made()].map(({ row }) => row);
    expect(await ensure(other, rows)).toEqual({ placed: rows.map(asMade), read: 14, applied: 2 });
    for (const row of rows) expect(await contents(other, row)).toEqual(await contents(setting, row));
  });

  it('merges as where it was made, though the tree of a single patch was never there', async () => {
    const old = (change: Record<number, string>) =>
      text('old.txt', Array.from({ length: 40 }, (_, at) => `${change[at] ?? 'the same line'}\n`).join(''));
    const all = [[old({ 0: 'top' }), text('z', 'z\n')], [old({ 39: 'end' })], [text('z', 'other\n')]];
    const rows = (await Promise.all(all.map((list) => made(list)))).map(({ row }) => row);
    const patches = rows.map((row, at) => ({ ...row, subtaskId: `${at}`, row: at, title: `${at}` }));
    expect(await ensure(other, rows)).toMatchObject({ applied: 2 });
    expect([...(await other.mirror.treesOf(rows.map(({ tree }) => tree))).keys()]).toEqual([rows[0]?.tree]);
    const merged = async ({ mirror, head: target }: GitSetting) => {
      const { tree, conflicts } = await mergePatches(await openGround({ mirror, target, patches }), patches);
      return { tree, conflicts: conflicts.map(({ patch, with: rival }) => [patch.row, rival?.row]) };
    };
    expect(await merged(other)).toEqual(await merged(setting));
    expect((await merged(other)).conflicts).toEqual([[2, 0]]);
  });

  it('on a base that only another worker has is placed on what it found there, one upon the other', async () => {
    const first = await made([text('old.txt', 'first\n')]);
    const second = await made([text('old.txt', 'second\n'), text('crlf.txt', 'second\n')], first.commit);
    const third = await made([text('old.txt', 'third\n')], second.commit);
    const rows = [third.row, second.row, first.row];
    const { placed } = await ensure(other, rows);
    expect(placed[2]).toEqual(asMade(first.row));
    for (const [at, row] of rows.entries()) {
      const { base = '', tree = '' } = placed[at] ?? {};
      expect(await other.mirror.compareTrees(base, tree)).toEqual(row.entries);
    }
    await expect(ensure(other, [{ ...third.row, baseCommit: 'd'.repeat(40) }])).resolves.toBeDefined();
    const homeless = await made(
      [text('old.txt', 'homeless\n')],
      (await made([text('old.txt', 'lost\n')])).commit,
    );
    await expect(ensure(other, [homeless.row])).rejects.toMatchObject({ code: 'commit_missing' });
  });

  it('of a patch that changes nothing is that of its base', async () => {
    const { row } = await made([]);
    expect(await ensure(setting, [row])).toEqual({ placed: [asMade(row)], read: 0, applied: 0 });
  });

  it('is refused where an artifact is lost, cut, or gives something else', async () => {
    const { row } = await made();
    const good = (await made([text('good', 'good\n')])).row;
    const whole = artifacts.get(row.digest) ?? Buffer.alloc(0);
    await expect(ensure(other, [{ ...row, digest: 'lost' }, good])).rejects.toMatchObject({
      code: 'internal',
    });
    artifacts.set('cut', whole.subarray(0, whole.length / 2));
    await expect(ensure(other, [{ ...row, digest: 'cut' }, good])).rejects.toThrow();
    artifacts.set('another', artifacts.get(good.digest) ?? Buffer.alloc(0));
    await expect(ensure(other, [{ ...row, digest: 'another' }])).rejects.toMatchObject({ code: 'internal' });
  });
});
