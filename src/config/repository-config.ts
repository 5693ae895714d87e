import { z } from 'zod';
import { commandAgentSchema } from './agent-config.ts';

/** `.github/patchfleet.yml`, read from the base branch, never from the pull request. Empty or missing: the defaults. */
export const repositoryConfigSchema = z.strictObject({
  review: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('Review pull requests by themselves. Commands work either way.'),
      drafts: z.boolean().default(false).describe('Review draft pull requests too.'),
      agents: z
        .array(z.string())
        .nullable()
        .default(null)
        .describe('Names of the agents that review; null: all agents of the operator and of this file.'),
      ignore: z.array(z.string()).default([]).describe('Globs of files that are never reviewed.'),
      instructions: z
        .string()
        .max(20_000)
        .default('')
        .describe('Conventions of this repository that every agent is told.'),
      fail_on: z
        .enum(['error', 'warning', 'note', 'never'])
        .default('error')
        .describe('The least severity of a finding that makes the check run conclude `failure`.'),
    })
    .prefault({}),
  commands: z
    .array(commandAgentSchema)
    .max(10)
    .default([])
    .describe('Command agents of this repository, run in the sandbox without a network.'),
});
export type RepositoryConfig = z.infer<typeof repositoryConfigSchema>;

/** Where the repository file lives. */
export const repositoryConfigPath = '.github/patchfleet.yml';
