import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PatchfleetError } from '../domain/failure.ts';
import { isGitName } from '../domain/git-names.ts';
import { requireSha } from './mirror-fetch.ts';
import type { TreeChange } from './port.ts';
import { runGit } from './run-git.ts';

/**
 * Tree of `base` with the changes applied. Blobs are written by one `fast-import`, which knows no filters and no
 * work tree; the tree through an index in a directory of its own, so that any number may be written at once.
 */
export async function writeTree(
  gitDir: string,
  base: string,
  changes: readonly TreeChange[],
  signal?: AbortSignal,
): Promise<string> {
  requireConsistent(changes);
  const cancel = signal === undefined ? {} : { signal };
  const home = await makeIndexDirectory(gitDir);
  try {
    const options = { gitDir, ...cancel, env: { GIT_INDEX_FILE: join(home, 'index') } };
    await runGit(['read-tree', `${requireSha(base)}^{tree}`], options);
    if (changes.length > 0) {
      const blobs = await writeBlobs(gitDir, changes, cancel);
      const width = base.length;
      const removals = changes.filter(({ file }) => file === null).map((change) => record(change, '', width));
      const others = changes.filter(({ file }) => file !== null);
      const additions = others.map((change) => record(change, blobs.get(change) ?? '', width));
      // Removals first: a file may take the place of a directory, or the reverse.
      const input = Buffer.concat([...removals, ...additions]);
      await runGit(['update-index', '-z', '--index-info'], { ...options, input });
    }
    const { stdout } = await runGit(['write-tree'], options);
    return requireSha(stdout.toString('latin1').trim());
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Longer than any git command may run, milliseconds. */
const staleMs = 60 * 60_000;

/** In the mirror, not in the temporary directory: what a killed process leaves is found here by the next write. */
export async function makeIndexDirectory(gitDir: string): Promise<string> {
  const all = join(gitDir, 'patchfleet-indexes');
  await mkdir(all, { recursive: true });
  for (const name of await readdir(all)) {
    const left = join(all, name);
    const made = await stat(left).catch(() => null);
    if (made !== null && Date.now() - made.mtimeMs > staleMs)
      await rm(left, { recursive: true, force: true });
  }
  return mkdtemp(join(all, 'index-'));
}

/** Ids of the blobs of the changes that carry their content. */
async function writeBlobs(
  gitDir: string,
  changes: readonly TreeChange[],
  cancel: { signal?: AbortSignal },
): Promise<Map<TreeChange, string>> {
  const parts: Buffer[] = [];
  const written: TreeChange[] = [];
  for (const change of changes) {
    if (change.file === null || !('content' in change.file)) continue;
    const { content } = change.file;
    written.push(change);
    parts.push(Buffer.from(`blob\nmark :${written.length}\ndata ${content.length}\n`), content);
    parts.push(Buffer.from(`\nget-mark :${written.length}\n`));
  }
  if (written.length === 0) return new Map();
  parts.push(Buffer.from('done\n'));
  const args = ['fast-import', '--quiet', '--done'];
  const { stdout } = await runGit(args, { gitDir, ...cancel, input: Buffer.concat(parts) });
  const ids = stdout.toString('latin1').trim().split('\n');
  return new Map(written.map((change, index) => [change, requireSha(ids[index] ?? '')]));
}

function record({ path, file }: TreeChange, blob: string, width: number): Buffer {
  const mode = file === null ? '0' : file.mode;
  const oid = file === null ? '0'.repeat(width) : 'blob' in file ? requireSha(file.blob) : blob;
  if (!/^(?:0|100644|100755|120000|160000)$/.test(mode)) {
    throw new PatchfleetError('internal', `not a mode of a tree: ${JSON.stringify(mode)}`);
  }
  return Buffer.from(`${mode} ${oid}\t${path}\0`);
}

/** `update-index` would pass over paths it does not like, and let the later of two that clash win. */
function requireConsistent(changes: readonly TreeChange[]): void {
  const refuse = (path: string, why: string) => {
    throw new PatchfleetError('internal', `cannot write ${JSON.stringify(path)} to a tree: ${why}`);
  };
  const all = new Set<string>();
  for (const { path } of changes) {
    const parts = path.split('/');
    if (path.includes('\0') || !path.isWellFormed()) refuse(path, 'not a text git can hold');
    if (parts.some((part) => ['', '.', '..'].includes(part))) refuse(path, 'not a plain relative path');
    if (parts.some(isGitName)) refuse(path, 'a name git keeps for itself');
    if (all.has(path)) refuse(path, 'named twice');
    all.add(path);
  }
  const kept = new Set(changes.filter(({ file }) => file !== null).map(({ path }) => path));
  for (const path of kept) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (kept.has(path.slice(0, at))) refuse(path, 'below a file that is written too');
    }
  }
}
