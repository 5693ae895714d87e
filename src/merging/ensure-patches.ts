import { PatchfleetError } from '../domain/failure.ts';
import type { Mirror } from '../github/port.ts';
import type { PatchRow } from '../store/port.ts';

export interface PatchSource {
  readonly mirror: Pick<Mirror, 'treesOf' | 'applyPatch'>;
  /** The artifact of a patch; null where it is lost. */
  readonly readArtifact: (digest: string) => Promise<Uint8Array | null>;
  readonly signal: AbortSignal;
}

/**
 * Sees to it that the trees of all patches are in this mirror: where another worker's mirror has one, it is made of
 * the artifact. Their bases must be here (`commit_missing`).
 */
export async function ensurePatches(
  { mirror, readArtifact, signal }: PatchSource,
  patches: readonly Pick<PatchRow, 'baseCommit' | 'tree' | 'digest'>[],
): Promise<void> {
  const here = await mirror.treesOf(patches.flatMap(({ baseCommit, tree }) => [baseCommit, tree]));
  for (const { baseCommit, tree, digest } of patches) {
    signal.throwIfAborted();
    if (!here.has(baseCommit)) {
      throw new PatchfleetError('commit_missing', `${baseCommit} is not in the mirror`);
    }
    if (here.has(tree)) continue;
    const text = await readArtifact(digest);
    if (text === null) throw new PatchfleetError('internal', `the patch ${digest} is not in the artifacts`);
    const made = await mirror.applyPatch(baseCommit, text);
    if (made !== tree)
      throw new PatchfleetError('internal', `the patch ${digest} gives ${made}, not ${tree}`);
  }
}
