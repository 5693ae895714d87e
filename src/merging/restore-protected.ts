import { packageJson } from '../domain/json-object.ts';
import type { PatchEntry } from '../domain/patch.ts';
import type { ProtectionOf } from '../domain/protected-paths.ts';
import { changesScripts } from '../domain/protected-paths.ts';
import type { MirrorWriter, TreeChange } from '../github/port.ts';
import { isManifest } from './patch-policy.ts';

export interface RestoreRequest {
  readonly mirror: Pick<MirrorWriter, 'compareTrees' | 'readBlob' | 'writeTree' | 'commitTree'>;
  /** The commit whose checks count. */
  readonly base: string;
  readonly commit: string;
  /** See protection.ts. */
  readonly protection: ProtectionOf;
  /** Literal paths that rows name: they may change them, unless nobody may. */
  readonly allowed: ReadonlySet<string>;
}

/** Bytes of a package.json that is still taken apart; a larger one is restored whole. */
const maxManifestBytes = 1024 * 1024;
/** New files of the tests that act on other tests or on what they import. */
const actsOnOthers = /(?:^|\/)(?:conftest\.py|sitecustomize\.py|__mocks__\/.*|__snapshots__\/.*)$/;

/**
 * The commit that is verified in place of `commit`, so that no patch passes by weakening the check: protected files
 * are those of the base, of a package.json its scripts and runner settings. New tests stay; a new configuration of a
 * runner goes. `commit` itself where nothing had to be restored; `restored` are the paths that were.
 */
export async function restoreProtected(
  request: RestoreRequest,
): Promise<{ commit: string; restored: readonly string[] }> {
  const { mirror, base, commit } = request;
  const entries = await mirror.compareTrees(base, commit);
  const changes: TreeChange[] = [];
  for (const entry of entries) {
    const change = await restoring(request, entry);
    if (change !== null) changes.push(change);
  }
  if (changes.length === 0) return { commit, restored: [] };
  const tree = await mirror.writeTree(commit, [...changes, ...makingRoom(changes, entries)]);
  const message = 'Protected files as in the base, for verification';
  return {
    commit: await mirror.commitTree(tree, [base], message),
    restored: changes.map(({ path }) => path),
  };
}

async function restoring(request: RestoreRequest, entry: PatchEntry): Promise<TreeChange | null> {
  const { path, before } = entry;
  const kind = request.protection(path);
  if (kind !== 'never') {
    if (request.allowed.has(path)) return null;
    const added = kind === 'tests' && before === null;
    if (isManifest(path) && (kind === null || added)) return await restoreManifest(request, entry);
  }
  if (kind === null) return null;
  if (before === null && kind === 'tests' && !actsOnOthers.test(path)) return null;
  return { path, file: before };
}

/** Its scripts and runner settings as in the base; dependencies and the rest as the patch has them. */
async function restoreManifest(
  { mirror }: RestoreRequest,
  { path, before, file }: PatchEntry,
): Promise<TreeChange | null> {
  if (file === null || file.bytes > maxManifestBytes) return { path, file: before };
  const after = (await mirror.readBlob(file.blob, maxManifestBytes)).toString('utf8');
  const old =
    before === null ? null : (await mirror.readBlob(before.blob, maxManifestBytes)).toString('utf8');
  if (!changesScripts(old, after)) return null;
  const now = packageJson(after);
  const was = old === null ? {} : packageJson(old);
  if (now === null || was === null) return { path, file: before };
  const single = (from: Record<string, unknown>, key: string) =>
    JSON.stringify(key in from ? { [key]: from[key] } : {});
  const keys = [...new Set([...Object.keys(was), ...Object.keys(now)])];
  const merged = Object.fromEntries(
    keys.flatMap((key) => {
      const from = changesScripts(single(was, key), single(now, key)) ? was : now;
      return key in from ? [[key, from[key]]] : [];
    }),
  );
  const content = Buffer.from(`${JSON.stringify(merged, null, 2)}\n`);
  return { path, file: { mode: file.mode, content } };
}

/** Removals of what the patch put where a restored file, or a directory above it, has to stand. */
function makingRoom(changes: readonly TreeChange[], entries: readonly PatchEntry[]): TreeChange[] {
  const restored = changes.filter(({ file }) => file !== null).map(({ path }) => path);
  const named = new Set(changes.map(({ path }) => path));
  return entries
    .filter(
      ({ path, file }) =>
        file !== null &&
        !named.has(path) &&
        restored.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`)),
    )
    .map(({ path }) => ({ path, file: null }));
}
