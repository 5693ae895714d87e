import { checkAgents } from './check-agents.ts';
import { nearest } from './nearest.ts';
import { type Finding, type Read, readYamlConfig } from './read-yaml-config.ts';
import { type RepositoryConfig, repositoryConfigSchema } from './repository-config.ts';

/**
 * Reads the repository file. `operatorAgents`: names of the agents of the operator file, which
 * `review.agents` may name and `commands` may not take. Null: there is no file, the defaults hold.
 */
export function readRepositoryConfig(
  text: string | null,
  operatorAgents: readonly string[],
): Read<RepositoryConfig> {
  return readYamlConfig(text, repositoryConfigSchema, (config) => [
    ...checkAgents(config.commands, ['commands'], { taken: operatorAgents, channels: [] }),
    ...checkSelection(config, operatorAgents),
  ]);
}

function checkSelection(config: RepositoryConfig, operatorAgents: readonly string[]): Finding[] {
  const known = [...operatorAgents, ...config.commands.map((command) => command.name)];
  return (config.review.agents ?? []).flatMap((name, index) => {
    if (known.includes(name)) return [];
    const meant = nearest(name, known);
    const valid = `${meant === null ? '' : `did you mean \`${meant}\`? `}Known agents: ${known.join(', ') || 'none'}`;
    return [{ path: ['review', 'agents', index], message: `there is no agent \`${name}\``, valid }];
  });
}
