import { PatchfleetError } from '../domain/failure.ts';
import type { Mirror } from '../github/port.ts';
import type { PatchRow } from '../store/port.ts';

export interface PatchSource {
  readonly mirror: Pick<Mirror, 'has' | 'commitTree' | 'applyPatch'>;
  /** The artifact of the patch; null where it is lost. */
  readonly readArtifact: (digest: string) => Promise<Uint8Array | null>;
}

/**
 * A commit of the patch that is in this mirror: the one that its row names or, where another worker's mirror has
 * that, one of the same tree made from the artifact. Its base must be here (`commit_missing`).
 */
export async function ensurePatchCommit(
  { mirror, readArtifact }: PatchSource,
  patch: Pick<PatchRow, 'baseCommit' | 'commit' | 'tree' | 'digest'>,
): Promise<string> {
  if (await mirror.has(patch.commit)) return patch.commit;
  if (!(await mirror.has(patch.baseCommit))) throw new PatchfleetError('commit_missing', patch.baseCommit);
  const text = await readArtifact(patch.digest);
  if (text === null)
    throw new PatchfleetError('internal', `the patch ${patch.digest} is not in the artifacts`);
  const tree = await mirror.applyPatch(patch.baseCommit, text);
  if (tree !== patch.tree) {
    throw new PatchfleetError('internal', `the patch ${patch.digest} gives ${tree}, not ${patch.tree}`);
  }
  return await mirror.commitTree(tree, [patch.baseCommit], 'Patch');
}
