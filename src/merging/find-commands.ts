import type { VerificationCommand } from '../domain/verification.ts';
import type { Mirror } from '../github/port.ts';
import { detectCommands, manifestPaths } from './detect-commands.ts';

/** Bytes of a manifest; a larger one is not read. */
const maxManifestBytes = 1024 * 1024;

/** The commands that check that commit: configured, or found from its files. Never from a patch: give the base. */
export async function findCommands(
  mirror: Pick<Mirror, 'listTree' | 'readFile'>,
  commit: string,
  configured: readonly (readonly string[])[] | null,
): Promise<VerificationCommand[]> {
  if (configured !== null) return detectCommands({ paths: [], manifests: new Map(), configured });
  const paths = await mirror.listTree(commit);
  const manifests = new Map<string, string>();
  for (const path of manifestPaths.filter((manifest) => paths.includes(manifest))) {
    const content = await mirror.readFile(commit, path, maxManifestBytes);
    if (content !== null) manifests.set(path, content.toString('utf8'));
  }
  return detectCommands({ paths, manifests, configured });
}
