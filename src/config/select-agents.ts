import { PatchfleetError } from '../domain/failure.ts';
import type { AgentConfig } from './agent-config.ts';
import { type RepositoryConfig, repositoryConfigPath } from './repository-config.ts';

/**
 * The agents that review a repository, in order: those of the operator, then the repository's own commands,
 * narrowed by `review.agents`. Fails with `config_invalid` for a name that nobody defines, or defined twice.
 */
export function selectAgents(
  operatorAgents: readonly AgentConfig[],
  repository: RepositoryConfig,
): AgentConfig[] {
  const all = [...operatorAgents, ...repository.commands];
  const names = all.map((agent) => agent.name);
  const twice = repository.commands.find(({ name }) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice !== undefined)
    throw new PatchfleetError(
      'config_invalid',
      `${repositoryConfigPath}: commands: the name \`${twice.name}\` is taken by another agent; choose another name`,
    );
  const wanted = repository.review.agents;
  if (wanted === null) return all;
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new PatchfleetError(
      'config_invalid',
      `${repositoryConfigPath}: review.agents: there is no agent \`${unknown}\`; valid: ${names.map((name) => `\`${name}\``).join(', ') || 'none is configured'}`,
    );
  return all.filter((agent) => wanted.includes(agent.name));
}

/** The configuration of an agent that a row names. Fails with `config_invalid` when it is there no more. */
export function findAgent(
  operatorAgents: readonly AgentConfig[],
  repository: RepositoryConfig | null,
  name: string,
): AgentConfig {
  const found = [...operatorAgents, ...(repository?.commands ?? [])].find((agent) => agent.name === name);
  if (found === undefined)
    throw new PatchfleetError('config_invalid', `the agent \`${name}\` is no longer configured`);
  return found;
}
