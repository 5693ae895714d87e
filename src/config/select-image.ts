import { PatchfleetError } from '../domain/failure.ts';
import { readableName } from './readable-name.ts';
import { type RepositoryConfig, repositoryConfigPath } from './repository-config.ts';
import type { SandboxConfig } from './sandbox-config.ts';

/**
 * The image that a repository's sandboxes are made of; undefined: the operator's own. Fails with `image_refused`
 * for one that the operator does not allow. Names are compared as they are written: the operator allows a name, not
 * what it happens to mean to the engine.
 */
export function imageFor(
  operator: Pick<SandboxConfig, 'image' | 'images'>,
  repository: Pick<RepositoryConfig, 'sandbox'>,
): string | undefined {
  const wanted = repository.sandbox.image;
  if (wanted === null) return undefined;
  if (wanted === operator.image || operator.images.includes(wanted)) return wanted;
  throw new PatchfleetError(
    'image_refused',
    `${repositoryConfigPath}: sandbox.image: the operator does not allow the image \`${readableName(wanted)}\``,
  );
}
