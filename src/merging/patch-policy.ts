import type { PatchEntry, Refusal } from '../domain/patch.ts';
import { pathGlob } from '../domain/path-glob.ts';
import { changesScripts, type ProtectedKind, protectedPaths } from '../domain/protected-paths.ts';
import { scopeMatcher } from './scope.ts';

/** What a row may change. */
export interface PatchPolicy {
  /** The row's scope: literal paths or globs. What it names literally may be a protected file. */
  readonly writes: readonly string[];
  /** Paths of the base commit: they decide what is a literal path. */
  readonly treePaths: readonly string[];
  /** Further globs, of the repository's own file, that no row may change. */
  readonly protectedGlobs: readonly string[];
  /** Files that the checks run by name; see domain/check-files.ts. */
  readonly checkFiles: ReadonlySet<string>;
  /** Entries a patch may have at most, and bytes of all its files. */
  readonly maxEntries: number;
  readonly maxBytes: number;
}

/** Content of each changed `package.json` before and after; null: not there. By path. */
export type Manifests = ReadonlyMap<
  string,
  { readonly before: string | null; readonly after: string | null }
>;

export const isManifest = (path: string): boolean => /(?:^|\/)package\.json$/i.test(path);

const kinds = (Object.keys(protectedPaths) as ProtectedKind[]).map((kind) => {
  const { title, byName, globs } = protectedPaths[kind];
  return { title, byName, matches: globs.map((glob) => pathGlob(glob, { nocase: true })) };
});

/**
 * Everything in a patch that its row may not do, each by name and rule, in the order of the entries. Empty: the
 * patch may be verified. A package.json whose content is not in `manifests` counts as one whose scripts changed.
 */
export function judgePatch(
  entries: readonly PatchEntry[],
  policy: PatchPolicy,
  manifests: Manifests,
): Refusal[] {
  const inScope = scopeMatcher(policy.writes, policy.treePaths);
  const named = new Set(policy.writes);
  const own = policy.protectedGlobs.map((glob) => pathGlob(glob));
  const refusals: Refusal[] = [];
  for (const entry of entries) {
    const refuse = (rule: Refusal['rule'], reason: string) =>
      refusals.push({ path: entry.path, rule, reason });
    if (!inScope(entry.path)) refuse('scope', 'is not among the files this subtask may write');
    const reason =
      protectedReason(entry.path, named, own, manifests) ?? runByChecks(entry.path, named, policy);
    if (reason !== null) refuse('protected', reason);
    judgeModes(entry, refuse);
  }
  const bytes = entries.reduce((sum, { file }) => sum + (file?.bytes ?? 0), 0);
  if (entries.length > policy.maxEntries) {
    const reason = `${entries.length} files are changed, ${policy.maxEntries} are allowed`;
    refusals.push({ path: '.', rule: 'size', reason });
  }
  if (bytes > policy.maxBytes) {
    refusals.push({ path: '.', rule: 'size', reason: `${bytes} bytes, ${policy.maxBytes} are allowed` });
  }
  return refusals;
}

function protectedReason(
  path: string,
  named: ReadonlySet<string>,
  own: readonly ((path: string) => boolean)[],
  manifests: Manifests,
): string | null {
  if (own.some((matches) => matches(path))) return 'is protected by the repository';
  for (const { title, byName, matches } of kinds) {
    if (!matches.some((match) => match(path)) || (byName && named.has(path))) continue;
    return byName
      ? `is one of the ${title}, which only a subtask that names the file may change`
      : `is one of the ${title}, which are changed by people alone`;
  }
  if (!isManifest(path) || named.has(path)) return null;
  const manifest = manifests.get(path);
  return manifest !== undefined && !changesScripts(manifest.before, manifest.after)
    ? null
    : 'changes scripts or test runner settings, which only a subtask that names the file may do';
}

function runByChecks(path: string, named: ReadonlySet<string>, { checkFiles }: PatchPolicy): string | null {
  if (!checkFiles.has(path) || named.has(path)) return null;
  return 'is run by the checks, and only a subtask that names the file may change it';
}

function judgeModes(
  { path, file, before }: PatchEntry,
  refuse: (rule: Refusal['rule'], reason: string) => void,
): void {
  if (before?.mode === '120000')
    refuse('symlink', file === null ? 'removes a symlink' : 'replaces a symlink');
  else if (before?.mode === '160000') refuse('submodule', 'changes a submodule');
  else if (before !== null && file !== null && before.mode !== file.mode) {
    refuse('mode', `changes the mode of an existing file from ${before.mode} to ${file.mode}`);
  }
  if (path.split('/').at(-1)?.toLowerCase() === '.gitmodules')
    refuse('submodule', 'changes what submodules are');
}
