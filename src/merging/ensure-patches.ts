import { PatchfleetError } from '../domain/failure.ts';
import type { Mirror } from '../github/port.ts';
import type { PatchRow } from '../store/port.ts';
import { clashes, differencesOf, type Touched, touch } from './touched.ts';

export interface PatchSource {
  readonly mirror: Pick<Mirror, 'treesOf' | 'applyPatch' | 'compareTrees' | 'writeTree'>;
  /** The artifact of a patch; null where it is lost. */
  readonly readArtifact: (digest: string) => Promise<Uint8Array | null>;
  /** A commit that is in the mirror, whose history the patches' bases stand on. */
  readonly anchor: string;
  readonly signal: AbortSignal;
}

type Row = Pick<PatchRow, 'baseCommit' | 'tree' | 'digest' | 'entries'>;

/** What a patch is from and to in this mirror: a commit or tree, and a tree. */
export interface PlacedPatch {
  readonly base: string;
  readonly tree: string;
}

/**
 * Sees to it that what all patches wrote is in this mirror, in their order: where another worker's mirror has it, it
 * comes of the artifacts, as many at once as can be. A base that another worker made (patches merged for a row to
 * build upon) and this one lacks is put together of the anchor and of what the patch found at its paths.
 * `commit_missing` where that cannot be.
 */
export async function ensurePatches(source: PatchSource, patches: readonly Row[]): Promise<PlacedPatch[]> {
  const asked = patches.flatMap(({ baseCommit, tree }) => [baseCommit, tree]);
  const here = await source.mirror.treesOf(asked);
  const placed = new Map<Row, PlacedPatch>();
  const absent: Row[] = [];
  for (const patch of patches) {
    if (!here.has(patch.baseCommit)) continue;
    placed.set(patch, { base: patch.baseCommit, tree: patch.tree });
    if (!here.has(patch.tree)) absent.push(patch);
  }
  for (const group of apart(absent)) await applyAll(source, group);
  let homeless = patches.filter((patch) => !placed.has(patch));
  // One may stand upon another.
  for (let before = Number.POSITIVE_INFINITY; homeless.length < before; ) {
    before = homeless.length;
    for (const patch of homeless) {
      const place = await placeAnew(source, patch);
      if (place !== null) placed.set(patch, place);
    }
    homeless = homeless.filter((patch) => !placed.has(patch));
  }
  return patches.map((patch) => {
    const place = placed.get(patch);
    if (place !== undefined) return place;
    throw new PatchfleetError('commit_missing', `${patch.baseCommit} is not in the mirror`);
  });
}

/** Groups of one base in which no patch meets another. */
function apart(patches: readonly Row[]): Row[][] {
  const groups: { readonly base: string; readonly rows: Row[]; readonly touched: Touched }[] = [];
  for (const patch of patches) {
    const changes = differencesOf(patch.entries);
    const free = groups.find(
      ({ base, touched }) =>
        base === patch.baseCommit &&
        changes.every(({ path }) => !touched.files.has(path) && !clashes(touched, path)),
    );
    const group = free ?? { base: patch.baseCommit, rows: [], touched: touch([]) };
    if (free === undefined) groups.push(group);
    group.rows.push(patch);
    touch(changes, group.touched);
  }
  return groups.map(({ rows }) => rows);
}

/** Patches of one base that do not meet. One that git cannot apply is told from the others. */
async function applyAll(source: PatchSource, patches: readonly Row[]): Promise<void> {
  const base = patches[0]?.baseCommit ?? source.anchor;
  const entries = patches.flatMap((patch) => patch.entries);
  try {
    await applyTo(source, base, patches, entries);
  } catch (thrown) {
    if (patches.length === 1 || !(thrown instanceof PatchfleetError) || thrown.code === 'cancelled')
      throw thrown;
    for (const patch of patches) await applyAll(source, [patch]);
  }
}

/** Null: what it found at its paths is not there. */
async function placeAnew(source: PatchSource, patch: Row): Promise<PlacedPatch | null> {
  source.signal.throwIfAborted();
  const found = patch.entries.map(({ path, before }) => ({ path, file: before }));
  let base: string;
  try {
    base = await source.mirror.writeTree(source.anchor, found, source.signal);
  } catch (thrown) {
    if (thrown instanceof PatchfleetError && thrown.code === 'git_failed') return null;
    throw thrown;
  }
  return { base, tree: await applyTo(source, base, [patch], patch.entries) };
}

/** The tree of the base with the patches; it is held against what the rows say that they change. */
async function applyTo(
  { mirror, readArtifact, signal }: PatchSource,
  base: string,
  patches: readonly Row[],
  entries: Row['entries'],
): Promise<string> {
  const texts: Uint8Array[] = [];
  for (const { digest } of patches) {
    signal.throwIfAborted();
    const text = await readArtifact(digest);
    if (text === null) throw new PatchfleetError('internal', `the patch ${digest} is not in the artifacts`);
    texts.push(text);
  }
  const tree = await mirror.applyPatch(base, Buffer.concat(texts));
  if (told(await mirror.compareTrees(base, tree)) === told(entries)) return tree;
  const digests = patches.map(({ digest }) => digest).join(', ');
  throw new PatchfleetError('internal', `the patch ${digests} does not give what its row says`);
}

function told(entries: Row['entries']): string {
  const lines = entries.map(({ path, file }) => JSON.stringify([path, file?.mode, file?.blob]));
  return lines.sort().join('\n');
}
