import type { AgentConfig, ModelAgentConfig } from '../config/agent-config.ts';
import { PatchfleetError } from '../domain/failure.ts';
import type { ModelGateway } from '../inference/port.ts';
import { createCommandAgent } from './command-agent.ts';
import { createFixAgent, type FixerDeps } from './fix-agent.ts';
import { createModelAgent } from './model-agent.ts';
import { createModelPlanner } from './planner-agent.ts';
import type { Agent, Fixer, PlannerAgent, Triager } from './port.ts';
import { createTriageAgent } from './triage-agent.ts';

export interface AgentDeps {
  readonly gateway: ModelGateway;
  /** `review.instructions` (`fix.instructions`) of the repository file; may be empty. */
  readonly repositoryInstructions: string;
}

/** The agent that a configuration describes. Agents keep no state between attempts. */
export function createAgent(config: AgentConfig, deps: AgentDeps): Agent {
  return config.kind === 'command' ? createCommandAgent(config) : createModelAgent(config, deps);
}

/** Fails with `config_invalid` for a command agent, as the next two do. */
export function createFixer(config: AgentConfig, deps: FixerDeps): Fixer {
  return createFixAgent(requireModel(config, 'fix'), deps);
}

export function createTriager(config: AgentConfig, deps: AgentDeps): Triager {
  return createTriageAgent(requireModel(config, 'triage'), deps);
}

export function createPlannerAgent(config: AgentConfig, deps: Pick<AgentDeps, 'gateway'>): PlannerAgent {
  return createModelPlanner(requireModel(config, 'plan'), deps);
}

function requireModel(config: AgentConfig, work: string): ModelAgentConfig {
  if (config.kind === 'model') return config;
  throw new PatchfleetError(
    'config_invalid',
    `the agent \`${config.name}\` is a command and cannot ${work}; name an agent of kind \`model\``,
  );
}
