import type { RepositoryConfig } from '../config/repository-config.ts';
import { filesOfChecks, manifestOf } from '../domain/check-files.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { protectionBy } from '../domain/protection.ts';
import type { VerificationCommand } from '../domain/verification.ts';
import type { Mirror } from '../github/port.ts';
import { findCommands } from './find-commands.ts';
import type { CheckedPatch, CheckPatchRequest, Verifier } from './port.ts';
import { readPatch } from './read-patch.ts';
import { restoreProtected } from './restore-protected.ts';

/** Entries and bytes a patch may have. */
const maxEntries = 2000;
const maxBytes = 50 * 1024 * 1024;
/** Bytes of a patch as text, binaries included. */
const maxPatchText = 100 * 1024 * 1024;
/** Bytes of a package.json whose scripts are followed. */
const maxManifestBytes = 1024 * 1024;

/** The checks of a repository at that commit. */
export function checksOf(
  mirror: Pick<Mirror, 'listTree' | 'readFile'>,
  commit: string,
  config: RepositoryConfig,
): ReturnType<typeof findCommands> {
  return findCommands(mirror, commit, config.verify.commands);
}

/**
 * From what an agent left in its workspace to a patch that may be merged: read, held against scope and policy,
 * verified with protected files as in the base. Null: nothing was changed. Fails with `patch_refused` (every
 * refusal named), `verification_failed` (every new failure named), or as verifying does.
 */
export function createPatchChecker(
  verifier: Verifier,
): (request: CheckPatchRequest) => Promise<CheckedPatch | null> {
  return async ({ mirror, base, harvest, writes, config, message, context }) => {
    if (harvest.length === 0) return null;
    const treePaths = await mirror.listTree(base);
    const { patch, refusals } = await readPatch(harvest, {
      mirror,
      baseCommit: base,
      policy: {
        writes,
        treePaths,
        protectedGlobs: config.verify.protected,
        checkFiles: await readCheckFiles(mirror, base, treePaths, context.commands),
        maxEntries,
        maxBytes,
      },
      message,
      signal: context.signal,
    });
    if (refusals.length > 0) {
      const named = refusals.map(({ path, rule, reason }) => `${path}: ${reason} (${rule})`);
      throw new PatchfleetError('patch_refused', named.join('\n'));
    }
    if (patch === null) return null;
    context.onProgress();
    const restored = await restoreProtected({
      mirror,
      base,
      commit: patch.commit,
      protection: protectionBy(config.verify.protected),
      allowed: new Set(writes),
    });
    // Whatever the policy let pass: nothing that is not verified as it is becomes a patch.
    if (restored.restored.length > 0) {
      const named = restored.restored.map(
        (path) => `${path}: is as in the base when the checks run (protected)`,
      );
      throw new PatchfleetError('patch_refused', named.join('\n'));
    }
    const verdict = await verifier.judge(base, restored.commit, context);
    if (!verdict.passed)
      throw new PatchfleetError('verification_failed', `new failures:\n${verdict.newFailures.join('\n')}`);
    return { patch, verdict, text: await mirror.patchText(base, patch.commit, maxPatchText) };
  };
}

async function readCheckFiles(
  mirror: Pick<Mirror, 'readFile'>,
  base: string,
  treePaths: readonly string[],
  commands: readonly VerificationCommand[],
): Promise<ReadonlySet<string>> {
  const files = new Set(treePaths);
  const manifests = new Map<string, string>();
  for (const { cwd } of commands) {
    const path = manifestOf(cwd);
    if (manifests.has(path) || !files.has(path)) continue;
    const content = await mirror.readFile(base, path, maxManifestBytes);
    if (content !== null) manifests.set(path, content.toString('utf8'));
  }
  return new Set(
    filesOfChecks({
      commands,
      manifestAt: (path) => manifests.get(path) ?? null,
      exists: (path) => files.has(path),
    }),
  );
}
