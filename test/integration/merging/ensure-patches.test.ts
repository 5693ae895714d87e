import { beforeEach, describe, expect, it } from 'vitest';
import type { TreeChange } from '../../../src/github/port.ts';
import { ensurePatches } from '../../../src/merging/ensure-patches.ts';
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

async function made() {
  const { mirror, head } = setting;
  const tree = await mirror.writeTree(head, changes);
  const text = await mirror.patchText(head, tree, 1_000_000);
  return { row: { baseCommit: head, tree, digest: 'digest' }, text };
}

function ensure(place: GitSetting, text: Uint8Array | null, ...rows: Parameters<typeof ensurePatches>[1][]) {
  let reads = 0;
  const readArtifact = async () => {
    reads += 1;
    return text;
  };
  return ensurePatches({ mirror: place.mirror, readArtifact, signal: never }, rows.flat()).then(() => reads);
}
const has = async (place: GitSetting, tree: string) => (await place.mirror.treesOf([tree])).has(tree);

describe('the trees of patches', () => {
  it('are left as they are where they are there, and no artifact is read', async () => {
    const { row } = await made();
    expect(await ensure(setting, null, [row, row])).toBe(0);
  });

  it('are made of the artifacts in another mirror', async () => {
    const { row, text } = await made();
    expect(other.head).toBe(setting.head);
    expect(await has(other, row.tree)).toBe(false);
    expect(await ensure(other, text, [row])).toBe(1);
    expect(await has(other, row.tree)).toBe(true);
    expect(await other.mirror.compareTrees(other.head, row.tree)).toEqual(
      await setting.mirror.compareTrees(setting.head, row.tree),
    );
  });

  it('of a patch that changes nothing are those of its base', async () => {
    const { head, mirror } = setting;
    const row = { baseCommit: head, tree: await mirror.treeOf(head), digest: '' };
    expect(await ensure(setting, new Uint8Array(), [row])).toBe(0);
  });

  it('are refused where the artifact is lost, or gives something else', async () => {
    const { row, text } = await made();
    await expect(ensure(other, null, [row])).rejects.toMatchObject({ code: 'internal' });
    const cut = text.subarray(0, text.length / 2);
    await expect(ensure(other, cut, [row])).rejects.toThrow();
    const wrong = { ...row, tree: 'e'.repeat(40) };
    await expect(ensure(other, text, [wrong])).rejects.toMatchObject({ code: 'internal' });
    const homeless = { ...row, baseCommit: 'd'.repeat(40) };
    await expect(ensure(other, text, [homeless])).rejects.toMatchObject({ code: 'commit_missing' });
  });
});
