import { beforeEach, describe, expect, it } from 'vitest';
import { applyPatch } from '../../../src/github/apply-patch.ts';
import type { TreeChange } from '../../../src/github/port.ts';
import { ensurePatchCommit } from '../../../src/merging/ensure-patch-commit.ts';
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
  const commit = await mirror.commitTree(tree, [head], 'the message of whoever made it');
  const text = await mirror.patchText(head, tree, 1_000_000);
  return { row: { baseCommit: head, tree, commit, digest: 'digest' }, text };
}

const source = (place: GitSetting, text: Uint8Array | null) => ({
  mirror: place.mirror,
  applyPatch: (base: string, patch: Uint8Array) => applyPatch(place.mirror.dir, base, patch),
  readArtifact: async () => text,
});

describe('the commit of a patch', () => {
  it('is the one its row names where that is there', async () => {
    const { row } = await made();
    expect(await ensurePatchCommit(source(setting, null), row)).toBe(row.commit);
  });

  it('is made of the artifact in another mirror, with the same tree', async () => {
    const { row, text } = await made();
    expect(other.head).toBe(setting.head);
    const commit = await ensurePatchCommit(source(other, text), row);
    expect(await other.mirror.treeOf(commit)).toBe(row.tree);
    expect(await other.mirror.mergeBase(commit, other.head)).toBe(other.head);
  });

  it('of a patch that changes nothing is one of its base', async () => {
    const { head, mirror } = setting;
    const row = { baseCommit: head, tree: await mirror.treeOf(head), commit: 'f'.repeat(40), digest: '' };
    const commit = await ensurePatchCommit(source(setting, new Uint8Array()), row);
    expect(await mirror.treeOf(commit)).toBe(row.tree);
  });

  it('is refused where the artifact is lost, or gives something else', async () => {
    const { row, text } = await made();
    await expect(ensurePatchCommit(source(other, null), row)).rejects.toMatchObject({ code: 'internal' });
    const wrong = { ...row, tree: 'e'.repeat(40) };
    await expect(ensurePatchCommit(source(other, text), wrong)).rejects.toMatchObject({ code: 'internal' });
    const cut = text.subarray(0, text.length / 2);
    await expect(ensurePatchCommit(source(other, cut), row)).rejects.toThrow();
    const homeless = { ...row, baseCommit: 'd'.repeat(40) };
    await expect(ensurePatchCommit(source(other, text), homeless)).rejects.toMatchObject({
      code: 'commit_missing',
    });
  });
});
