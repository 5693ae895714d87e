import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileMode } from '../../../src/domain/patch.ts';
import type { Mirror, TreeChange } from '../../../src/github/port.ts';
import { openGround } from '../../../src/merging/ground.ts';
import { mergePatches } from '../../../src/merging/merge-patches.ts';
import type { MergePatch } from '../../../src/merging/port.ts';
import { createPatchSetting, type PatchSetting } from '../patches/patch-setting.ts';
import { mergeInTurn } from './merge-in-turn.ts';

/** Each takes a second of git; more are worth it when any of this is changed. */
const runs = Number(process.env['PATCHFLEET_MERGE_RUNS'] ?? 15);

let setting: PatchSetting;
beforeAll(async () => {
  setting = await createPatchSetting();
});
afterAll(async () => await setting.end());

interface Held {
  readonly content: string;
  readonly mode: FileMode;
}
type Files = ReadonlyMap<string, Held>;

/** Names that clash: files in each other's way, in case alone, in directories that move; odd ones too. */
const names = ['a', 'a/b', 'a/b/c', 'd/x', 'd/y', 'd/z/q', 'e/x', 'E/x', 'f', 'ü', 'g h'];
const text = (kind: number, changed: readonly number[]) =>
  Array.from({ length: 9 }, (_, at) => `${kind} line ${at}${changed.includes(at) ? ' changed' : ''}\n`).join(
    '',
  );
const content = fc
  .tuple(fc.integer({ min: 0, max: 2 }), fc.subarray([0, 4, 8], { maxLength: 2 }))
  .map(([kind, changed]) => text(kind, changed));
const name = fc.constantFrom(...names);
const mode = fc.constantFrom<FileMode>('100644', '100644', '100755');

type Edit = (files: Files) => Files;
const put =
  (path: string, held: Held): Edit =>
  (files) =>
    new Map([
      ...[...files].filter(([other]) => !other.startsWith(`${path}/`) && !path.startsWith(`${other}/`)),
      [path, held],
    ]);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ path: name, held: fc.record({ content, mode }) }).map(({ path, held }) => put(path, held)),
  // Another line of what is there.
  {
    weight: 3,
    arbitrary: fc.tuple(name, fc.constantFrom(0, 4, 8), fc.integer({ min: 0, max: 2 })).map(
      ([path, line, word]): Edit =>
        (files) => {
          const there = files.get(path);
          if (there === undefined) return files;
          const lines = there.content.split('\n');
          return put(path, {
            ...there,
            content: lines.map((old, at) => (at === line ? `word ${word}` : old)).join('\n'),
          })(files);
        },
    ),
  },
  name.map(
    (path): Edit =>
      (files) =>
        new Map([...files].filter(([other]) => other !== path)),
  ),
  fc.tuple(name, name).map(
    ([from, to]): Edit =>
      (files) => {
        const there = files.get(from);
        const rest = new Map([...files].filter(([other]) => other !== from));
        return there === undefined ? files : put(to, there)(rest);
      },
  ),
  // A directory moves.
  fc.tuple(fc.constantFrom('a', 'd', 'e'), fc.constantFrom('d', 'e', 'moved')).map(
    ([from, to]): Edit =>
      (files) => {
        const inside = [...files].filter(([path]) => path.startsWith(`${from}/`));
        const rest: Files = new Map([...files].filter(([path]) => !path.startsWith(`${from}/`)));
        return inside.reduce((all, [path, held]) => put(path.replace(from, to), held)(all), rest);
      },
  ),
);
const edits = fc.array(edit, { maxLength: 4 });

interface Story {
  readonly base: Files;
  readonly target: readonly Edit[];
  readonly patches: readonly {
    readonly edits: readonly Edit[];
    /** What it was made on: the first commit, an earlier patch, or the candidate of all before it. */
    readonly on: 'base' | 'patch' | 'candidate';
    readonly place: number;
  }[];
}
const story: fc.Arbitrary<Story> = fc.record({
  base: fc
    .array(fc.tuple(name, fc.record({ content, mode })), { minLength: 2, maxLength: 8 })
    .map((files) => files.reduce<Files>((all, [path, held]) => put(path, held)(all), new Map())),
  target: fc.oneof(fc.constant([]), edits),
  patches: fc.array(
    fc.record({
      edits,
      on: fc.constantFrom('base', 'base', 'base', 'patch', 'candidate'),
      // Rows need not be in the order of their making: what is made anew keeps its row.
      place: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
    { minLength: 1, maxLength: 7 },
  ),
});

function changesOf(before: Files, after: Files): TreeChange[] {
  const removed = [...before.keys()].filter((path) => !after.has(path));
  return [
    ...removed.map((path) => ({ path, file: null })),
    ...[...after].map(([path, held]) => ({
      path,
      file: { mode: held.mode, content: Buffer.from(held.content) },
    })),
  ];
}

const apply = (files: Files, list: readonly Edit[]) => list.reduce((now, change) => change(now), files);

async function filesOf(mirror: Mirror, commit: string): Promise<Files> {
  const [empty = ''] = setting.commits([]);
  const entries = await mirror.compareTrees(empty, commit);
  return new Map(
    await Promise.all(
      entries.map(async ({ path, file }) => {
        if (file === null) throw new Error(path);
        return [path, { mode: file.mode, content: String(await mirror.readBlob(file.blob, 1e6)) }] as const;
      }),
    ),
  );
}

/** The story in the mirror: its target, and its patches by row. */
async function tell({ base, target, patches }: Story) {
  const { mirror } = setting;
  const write = async (from: string, before: Files, after: Files) =>
    await mirror.commitTree(await mirror.writeTree(from, changesOf(before, after)), [from], 'made');
  const [empty = ''] = setting.commits([]);
  const root = await write(empty, new Map(), base);
  const moved = await write(root, base, apply(base, target));
  const made: { patch: MergePatch; commit: string; files: Files; place: number }[] = [];
  for (const [at, { edits: list, on, place }] of patches.entries()) {
    const last = on === 'patch' ? made.at(-1) : undefined;
    let from = last?.commit ?? root;
    let files = last?.files ?? base;
    if (on === 'candidate') {
      const { tree } = await mergeInTurn(
        mirror,
        root,
        made.map(({ patch }) => patch),
      );
      from = await mirror.commitTree(tree, [root], 'candidate');
      files = await filesOf(mirror, from);
    }
    const after = apply(files, list);
    const commit = await write(from, files, after);
    const patch = {
      subtaskId: `subtask-${at}`,
      row: at,
      title: `part ${at}`,
      baseCommit: from,
      tree: await mirror.treeOf(commit),
      entries: await mirror.compareTrees(from, commit),
    };
    made.push({ patch, commit, files: after, place: place < 0.8 ? at : place * patches.length });
  }
  const rows = made.toSorted((a, b) => a.place - b.place).map(({ patch }, row) => ({ ...patch, row }));
  return { mirror, target: moved, rows };
}

const shown = ({ tree, merged, conflicts }: Awaited<ReturnType<typeof mergePatches>>) => ({
  tree,
  merged: merged.map(({ row }) => row),
  conflicts: conflicts.map(({ patch, with: rival, paths }) => [patch.row, rival?.row ?? null, paths]),
});

describe('merging many patches', () => {
  it('gives the very tree that git makes of them one after the other, and the same conflicts', async () => {
    const seen = { edits: 0, merges: 0, conflicts: 0 };
    const property = fc.asyncProperty(story, async (told) => {
      const { mirror, target, rows } = await tell(told);
      const ground = await openGround({ mirror, target, patches: rows });
      let merges = 0;
      const counted: typeof ground = {
        ...ground,
        mergeByGit: (tree, patch) => {
          merges += 1;
          return ground.mergeByGit(tree, patch);
        },
      };
      const result = await mergePatches(counted, rows);
      expect(shown(result)).toEqual(shown(await mergeInTurn(mirror, target, rows)));
      seen.merges += merges;
      seen.conflicts += result.conflicts.length;
      if (merges === 0) seen.edits += result.merged.length;
    });
    await fc.assert(property, { numRuns: runs });
    // Both ways were gone; in a few runs one of them may not come up.
    if (runs >= 60) expect(Object.values(seen).every((count) => count > 0)).toBe(true);
  }, 600_000);
});
