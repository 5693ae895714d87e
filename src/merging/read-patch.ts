import { PatchfleetError } from '../domain/failure.ts';
import type { Patch, PatchEntry, Refusal } from '../domain/patch.ts';
import type { MirrorWriter, TreeChange } from '../github/port.ts';
import type { HarvestEntry } from '../sandbox/port.ts';
import { isManifest, judgePatch, type Manifests, type PatchPolicy } from './patch-policy.ts';

export interface ReadPatchOptions {
  readonly mirror: MirrorWriter;
  /** The commit the workspace was made of. */
  readonly baseCommit: string;
  /** What the row may change. */
  readonly policy: PatchPolicy;
  /** Message of the local commit. */
  readonly message: string;
  readonly signal: AbortSignal;
}

/** A package.json larger than this counts as one whose scripts changed. */
const manifestBytes = 1024 * 1024;

/**
 * Makes a patch of what a sandbox gave back. Refusals are all that is wrong with it, those of the harvest first;
 * with any, there is no patch at all. `patch` null without refusals: nothing was changed.
 */
export async function readPatch(
  harvest: readonly HarvestEntry[],
  options: ReadPatchOptions,
): Promise<{ patch: Patch | null; refusals: Refusal[] }> {
  const { mirror, baseCommit, policy, message, signal } = options;
  const refusals: Refusal[] = harvest.flatMap((entry) =>
    entry.kind === 'refused' ? [{ path: entry.path, rule: entry.rule, reason: entry.reason }] : [],
  );
  // Too much to be read: the rest of the judgement would be of a part.
  if (refusals.some(({ rule, path }) => rule === 'size' && path === '.')) return { patch: null, refusals };
  const changes: TreeChange[] = [];
  for (const entry of harvest) {
    signal.throwIfAborted();
    if (entry.kind === 'deleted') changes.push({ path: entry.path, file: null });
    if (entry.kind !== 'file') continue;
    const mode = entry.executable ? '100755' : '100644';
    changes.push({ path: entry.path, file: { mode, content: await readEntry(entry) } });
  }
  const tree = await mirror.writeTree(baseCommit, changes, signal);
  const entries = await mirror.compareTrees(baseCommit, tree);
  refusals.push(...judgePatch(entries, policy, await readManifests(mirror, entries)));
  if (refusals.length > 0 || entries.length === 0) return { patch: null, refusals };
  const commit = await mirror.commitTree(tree, [baseCommit], message);
  return { patch: { baseCommit, tree, commit, entries }, refusals };
}

async function readEntry(entry: HarvestEntry & { kind: 'file' }): Promise<Buffer> {
  try {
    return await entry.read();
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new PatchfleetError('sandbox_died', `${entry.path} could not be read: ${why}`, { cause: thrown });
  }
}

async function readManifests(mirror: MirrorWriter, entries: readonly PatchEntry[]): Promise<Manifests> {
  const read = async (blob: string | undefined) =>
    blob === undefined ? null : (await mirror.readBlob(blob, manifestBytes)).toString('utf8');
  const manifests = new Map<string, { before: string | null; after: string | null }>();
  for (const { path, file, before } of entries) {
    if (!isManifest(path) || before?.mode === '160000') continue;
    try {
      manifests.set(path, { before: await read(before?.blob), after: await read(file?.blob) });
    } catch (thrown) {
      if (!(thrown instanceof PatchfleetError) || thrown.code !== 'diff_too_large') throw thrown;
    }
  }
  return manifests;
}
