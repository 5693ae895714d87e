import { readFile } from 'node:fs/promises';
import type { ModelAgentConfig } from './agent-config.ts';
import { checkAgents } from './check-agents.ts';
import type { Environment } from './environment.ts';
import {
  type ChannelConfig,
  channelSchema,
  type OperatorConfig,
  operatorConfigSchema,
} from './operator-config.ts';
import { type Finding, type Read, readYamlConfig } from './read-yaml-config.ts';
import type { SandboxConfig } from './sandbox-config.ts';

/** The environment variables that make the channel `default`. */
type ModelEnvironment = Partial<Pick<Environment, 'OPENAI_BASE_URL' | 'OPENAI_API_KEY' | 'MODEL'>>;

/** Reads the operator file at `path`; where there is none, the defaults hold. */
export async function loadOperatorConfig(path: string, env: ModelEnvironment): Promise<Read<OperatorConfig>> {
  const text = await readText(path);
  return text.ok ? readOperatorConfig(text.value, env) : text;
}

/** What it says of sandboxes, for whoever looks at an image: it need name no agent. */
export async function loadSandboxConfig(path: string): Promise<Read<SandboxConfig>> {
  const text = await readText(path);
  if (!text.ok) return text;
  const read = readYamlConfig(text.value, operatorConfigSchema, () => []);
  return read.ok ? { ok: true, value: read.value.sandbox } : read;
}

/** Null: there is no such file. */
async function readText(path: string): Promise<Read<string | null>> {
  try {
    return { ok: true, value: await readFile(path, 'utf8') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ok: true, value: null };
    const message = `the file cannot be read: ${(error as Error).message}`;
    return {
      ok: false,
      problems: [{ key: '', line: null, column: null, message, valid: 'a readable file' }],
    };
  }
}

/**
 * The operator file with what the environment adds: the channel `default` where no channel has that name and
 * all three variables are set, and, where no agent is given, one model agent `reviewer`.
 */
export function readOperatorConfig(text: string | null, env: ModelEnvironment): Read<OperatorConfig> {
  const read = readYamlConfig(text, operatorConfigSchema, (config) => check(withDefaults(config, env), env));
  return read.ok ? { ok: true, value: withDefaults(read.value, env) } : read;
}

function withDefaults(config: OperatorConfig, env: ModelEnvironment): OperatorConfig {
  const given = channelOf(env);
  const named = config.channels.some((channel) => channel.name === 'default');
  const channels = given === null || named ? config.channels : [...config.channels, given];
  const channel = channels.find(({ name }) => name === 'default') ?? channels[0];
  if (config.agents.length > 0 || channel === undefined) return { ...config, channels };
  return { ...config, channels, agents: [reviewer(channel.name)] };
}

function channelOf(env: ModelEnvironment): ChannelConfig | null {
  const { OPENAI_BASE_URL, OPENAI_API_KEY, MODEL } = env;
  if (OPENAI_BASE_URL === undefined || OPENAI_API_KEY === undefined || MODEL === undefined) return null;
  return channelSchema.parse({ name: 'default', base_url: OPENAI_BASE_URL, model: MODEL });
}

function reviewer(channel: string): ModelAgentConfig {
  return { name: 'reviewer', kind: 'model', channel, files: ['**'], instructions: '' };
}

function check(config: OperatorConfig, env: ModelEnvironment): Finding[] {
  const channels = config.channels.map((channel) => channel.name);
  const findings = checkAgents(config.agents, ['agents'], { taken: [], channels });
  for (const [index, name] of channels.entries()) {
    if (channels.indexOf(name) === index) continue;
    const message = `the channel name \`${name}\` is used twice`;
    findings.push({ path: ['channels', index, 'name'], message, valid: 'a name of its own' });
  }
  if (config.agents.length === 0) {
    const lacking = (['OPENAI_BASE_URL', 'OPENAI_API_KEY', 'MODEL'] as const).filter(
      (key) => env[key] === undefined,
    );
    const valid = `an agent under \`agents\`, a channel under \`channels\`, or the environment variables ${lacking.join(', ')}`;
    findings.push({ path: ['agents'], message: 'there are no agents', valid });
  }
  return findings;
}
