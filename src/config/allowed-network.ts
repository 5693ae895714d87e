import { PatchfleetError } from '../domain/failure.ts';
import { readableName } from './readable-name.ts';
import { type RepositoryConfig, repositoryConfigPath } from './repository-config.ts';
import type { NetworkRule, SandboxConfig } from './sandbox-config.ts';

/**
 * What the sandboxes of a repository may reach: the places that its `setup.network.allow` names, each of which the
 * operator must allow by the same host and port. Sorted, each once. Fails with `config_invalid`, naming every place that
 * is not allowed, or is none.
 */
export function allowedNetwork(
  operator: Pick<SandboxConfig, 'network'>,
  repository: Pick<RepositoryConfig, 'setup'>,
): NetworkRule[] {
  const { allow } = operator.network;
  const found = new Map<string, NetworkRule>();
  const problems: string[] = [];
  for (const named of repository.setup.network.allow) {
    const place = placeOf(named);
    const rule = allow.find(({ host, port }) => place !== null && `${host}:${port}` === place);
    if (place === null) problems.push(`\`${readableName(named)}\` is no \`host\` or \`host:port\``);
    else if (rule === undefined) problems.push(`the operator does not allow \`${place}\``);
    else found.set(place, rule);
  }
  if (problems.length > 0) {
    const places = allow.map(({ host, port }) => `\`${host}:${port}\``);
    const valid = places.length === 0 ? 'the operator allows none' : `allowed: ${places.join(', ')}`;
    throw new PatchfleetError(
      'config_invalid',
      `${repositoryConfigPath}: setup.network.allow: ${problems.join('; ')} (${valid})`,
    );
  }
  return [...found.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}

/** `host:port` in lower case; null: not one. What is written otherwise (a scheme, a path, a user) is no place. */
function placeOf(named: string): string | null {
  const [, host, port = '443'] = /^([a-z0-9.-]+)(?::(\d{1,5}))?$/i.exec(named) ?? [];
  return host === undefined ? null : `${host.toLowerCase()}:${Number(port)}`;
}
