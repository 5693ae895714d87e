import { wordsOf } from '../domain/triage-rules.ts';
import type { AgentConfig } from './agent-config.ts';
import { checkAgents } from './check-agents.ts';
import { nearest } from './nearest.ts';
import { type Finding, type Path, type Read, readYamlConfig } from './read-yaml-config.ts';
import { type RepositoryConfig, repositoryConfigSchema } from './repository-config.ts';

/**
 * Reads the repository file. `operatorAgents`: the agents of the operator file, which `review.agents` and
 * `fix.agents` may name and `commands` may not take the names of. Null: there is no file, the defaults hold.
 */
export function readRepositoryConfig(
  text: string | null,
  operatorAgents: readonly Pick<AgentConfig, 'name' | 'kind'>[],
): Read<RepositoryConfig> {
  const taken = operatorAgents.map((agent) => agent.name);
  return readYamlConfig(text, repositoryConfigSchema, (config) => [
    ...checkAgents(config.commands, ['commands'], { taken, channels: [] }),
    ...checkSelection(config, operatorAgents),
    ...checkCampaigns(config),
    ...checkRules(config),
  ]);
}

function checkSelection(
  config: RepositoryConfig,
  operatorAgents: readonly Pick<AgentConfig, 'name' | 'kind'>[],
): Finding[] {
  const all = [...operatorAgents, ...config.commands];
  const models = all.filter((agent) => agent.kind === 'model').map((agent) => agent.name);
  const names = all.map((agent) => agent.name);
  return [
    ...checkNames(config.review.agents, ['review', 'agents'], names, 'Known agents'),
    ...checkNames(config.fix.agents, ['fix', 'agents'], models, 'Known model agents', names),
  ];
}

/** `others`: names that exist but are of the wrong kind. */
function checkNames(
  given: readonly string[] | null,
  base: Path,
  known: readonly string[],
  title: string,
  others: readonly string[] = [],
): Finding[] {
  return (given ?? []).flatMap((name, index) => {
    if (known.includes(name)) return [];
    const isOther = others.includes(name);
    const meant = isOther ? null : nearest(name, known);
    const message = isOther ? `the agent \`${name}\` is no model agent` : `there is no agent \`${name}\``;
    const hint = meant === null ? '' : `did you mean \`${meant}\`? `;
    return [{ path: [...base, index], message, valid: `${hint}${title}: ${known.join(', ') || 'none'}` }];
  });
}

/** A phrase of punctuation alone would fit nothing, ever. */
function checkRules({ triage }: RepositoryConfig): Finding[] {
  return triage.rules.flatMap(({ match }, rule) =>
    match.flatMap((phrase, index) => {
      if (wordsOf(phrase, '*').length > 0) return [];
      const path = ['triage', 'rules', rule, 'match', index];
      return [{ path, message: 'there is no word in it', valid: 'words, e.g. `crash*` or `out of memory`' }];
    }),
  );
}

function checkCampaigns({ campaigns }: RepositoryConfig): Finding[] {
  const names = campaigns.map((campaign) => campaign.name);
  return names.flatMap((name, index) => {
    if (names.indexOf(name) === index) return [];
    const message = `the campaign name \`${name}\` is used twice`;
    return [{ path: ['campaigns', index, 'name'], message, valid: 'a name of its own' }];
  });
}
