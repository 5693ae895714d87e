import type { AgentConfig } from './agent-config.ts';
import type { Finding, Path } from './read-yaml-config.ts';

/**
 * What the shape of agents does not show: names used twice (also against `taken`, names given elsewhere),
 * patterns that do not compile or lack a group, channels and fallbacks that do not exist.
 */
export function checkAgents(
  agents: readonly AgentConfig[],
  base: Path,
  options: { taken: readonly string[]; channels: readonly string[] },
): Finding[] {
  const findings: Finding[] = [];
  const seen = new Set(options.taken);
  const known = [...options.taken, ...agents.map(({ name }) => name)];
  for (const [index, agent] of agents.entries()) {
    const path = [...base, index];
    if (seen.has(agent.name)) {
      const message = `the agent name \`${agent.name}\` is used twice`;
      findings.push({ path: [...path, 'name'], message, valid: `a name other than ${[...seen].join(', ')}` });
    }
    seen.add(agent.name);
    for (const [at, name] of (agent.fallbacks ?? []).entries()) {
      if (name !== agent.name && known.includes(name)) continue;
      const message =
        name === agent.name ? 'an agent does not follow itself' : `there is no agent \`${name}\``;
      const others = known.filter((other) => other !== agent.name).join(', ');
      const valid = others === '' ? 'no name: there is no other agent' : `one of ${others}`;
      findings.push({ path: [...path, 'fallbacks', at], message, valid });
    }
    if (agent.kind === 'command') {
      const message = patternProblem(agent.pattern);
      const valid = 'a regular expression with the named groups path, line and message';
      if (message !== null) findings.push({ path: [...path, 'pattern'], message, valid });
    } else if (!options.channels.includes(agent.channel)) {
      const message = `there is no channel \`${agent.channel}\``;
      const names = options.channels.join(', ');
      const valid = names === '' ? 'a channel defined under `channels`; there is none' : `one of ${names}`;
      findings.push({ path: [...path, 'channel'], message, valid });
    }
  }
  return findings;
}

/** JavaScript's dialect, as the reader of command output compiles it. */
function patternProblem(pattern: string): string | null {
  try {
    new RegExp(pattern, 'u');
  } catch {
    try {
      new RegExp(pattern);
    } catch (error) {
      return `the regular expression does not compile: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  const lacking = ['path', 'line', 'message'].filter((group) => !pattern.includes(`(?<${group}>`));
  return lacking.length === 0 ? null : `the regular expression lacks the group ${lacking.join(', ')}`;
}
