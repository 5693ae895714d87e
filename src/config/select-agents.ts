import { PatchfleetError } from '../domain/failure.ts';
import type { AgentConfig, ModelAgentConfig } from './agent-config.ts';
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

/**
 * Names of the agents that take over where that one failed for good, in order. `modelOnly`: the work is
 * none for a command. Fails with `config_invalid` for a name that nobody defines.
 */
export function fallbacksOf(
  operatorAgents: readonly AgentConfig[],
  repository: RepositoryConfig | null,
  name: string,
  modelOnly: boolean,
): string[] {
  const all = [...operatorAgents, ...(repository?.commands ?? [])];
  // A row of the system itself, which integrates, has no agent.
  const chain = all.find((agent) => agent.name === name)?.fallbacks ?? [];
  const agents = chain.filter((other) => other !== name).map((other) => findAgent(all, null, other));
  return agents.filter(({ kind }) => !modelOnly || kind === 'model').map((agent) => agent.name);
}

/** The agent that writes fixes: the first of `fix.agents`, else the operator's first model agent. */
export function selectFixAgent(
  operatorAgents: readonly AgentConfig[],
  repository: RepositoryConfig,
): ModelAgentConfig {
  const [wanted] = repository.fix.agents ?? [];
  if (wanted === undefined) return selectModelAgent(operatorAgents);
  const agent = operatorAgents.find(({ name }) => name === wanted);
  if (agent?.kind === 'model') return agent;
  const models = operatorAgents.filter(({ kind }) => kind === 'model').map(({ name }) => `\`${name}\``);
  throw new PatchfleetError(
    'config_invalid',
    `${repositoryConfigPath}: fix.agents: there is no model agent \`${wanted}\`; valid: ${models.join(', ') || 'none is configured'}`,
  );
}

/** The agent that plans and triages: the operator's first model agent. */
export function selectModelAgent(operatorAgents: readonly AgentConfig[]): ModelAgentConfig {
  const agent = operatorAgents.find((each) => each.kind === 'model');
  if (agent?.kind === 'model') return agent;
  throw new PatchfleetError(
    'config_invalid',
    'this needs a model and no model agent is configured; name one under `agents` in the operator file',
  );
}
