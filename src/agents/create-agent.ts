import type { AgentConfig } from '../config/agent-config.ts';
import type { ModelGateway } from '../inference/port.ts';
import { createCommandAgent } from './command-agent.ts';
import { createModelAgent } from './model-agent.ts';
import type { Agent } from './port.ts';

export interface AgentDeps {
  readonly gateway: ModelGateway;
  /** `review.instructions` of the repository file; may be empty. */
  readonly repositoryInstructions: string;
}

/** The agent that a configuration describes. Agents keep no state between attempts. */
export function createAgent(config: AgentConfig, deps: AgentDeps): Agent {
  return config.kind === 'command' ? createCommandAgent(config) : createModelAgent(config, deps);
}
