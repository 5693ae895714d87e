import { z } from 'zod';

/** How an agent is configured. The same shape serves the operator file and the repository file. */

const agentName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'lower-case letters, digits and hyphens, at most 40, e.g. `eslint`');

const fallbacks = z
  .array(agentName)
  .max(5)
  .optional()
  .describe('Agents that take a subtask over, in order, where this one failed for good. None by default.');

export const commandAgentSchema = z
  .strictObject({
    name: agentName.describe('Name of the agent; it appears in check runs and comments.'),
    kind: z.literal('command').describe('A command run in the sandbox over the files of a shard.'),
    command: z
      .array(z.string().min(1))
      .min(1)
      .describe('Program and arguments. The argument `{files}` is replaced by the paths of the shard.'),
    format: z
      .enum(['sarif', 'lines'])
      .describe('What it prints on standard output: SARIF 2.1.0, or one finding a line.'),
    pattern: z
      .string()
      .default(
        '^(?<path>.+?):(?<line>\\d+)(?::(?<column>\\d+))?: (?:(?<severity>error|warning|note)[: ] ?)?(?<message>.+)$',
      )
      .describe(
        'For `lines`: a regular expression with the groups path, line, message and, if any, severity and rule.',
      ),
    files: z
      .array(z.string().min(1))
      .default(['**'])
      .describe('Globs: the agent sees only changed files that match.'),
    success_codes: z
      .array(z.int().min(0).max(255))
      .default([0, 1])
      .describe('Exit codes that mean the command did its work. Linters use 1 for "problems found".'),
    fallbacks,
  })
  .describe('A linter or other deterministic tool as a reviewer; works with no model at all.');

export const modelAgentSchema = z
  .strictObject({
    name: agentName.describe('Name of the agent; it appears in check runs and comments.'),
    kind: z
      .literal('model')
      .describe(
        'A model with tools in the sandbox: read-only where it reviews and triages, writing within its scope where it fixes.',
      ),
    channel: z
      .string()
      .default('default')
      .describe('Name of the channel of the operator file it speaks through.'),
    files: z
      .array(z.string().min(1))
      .default(['**'])
      .describe('Globs: the agent sees only changed files that match.'),
    instructions: z
      .string()
      .max(20_000)
      .default('')
      .describe('What to look for, in addition to what every reviewer is told.'),
    fallbacks,
  })
  .describe('A model as a reviewer, planner, fixer and triager.');

export const agentSchema = z.discriminatedUnion('kind', [commandAgentSchema, modelAgentSchema]);
export type AgentConfig = z.infer<typeof agentSchema>;
export type CommandAgentConfig = z.infer<typeof commandAgentSchema>;
export type ModelAgentConfig = z.infer<typeof modelAgentSchema>;
