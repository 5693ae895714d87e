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
  setup: z
    .strictObject({
      commands: z
        .array(z.array(z.string().min(1)).min(1).max(50))
        .max(20)
        .default([])
        .describe(
          'Commands that bring the dependencies, e.g. `[[npm, ci]]`, each as program and arguments. They run once for many attempts, in the sandbox; what they change in files of the repository is undone.',
        ),
      lockfiles: z
        .array(z.string().min(1))
        .max(50)
        .nullable()
        .default(null)
        .describe(
          'Globs of the files that decide what the commands bring. With the same content, what an earlier commit brought is used again. null: the known lockfiles and manifests.',
        ),
      seconds: z.int().min(1).max(3600).default(600).describe('Wall-clock limit of one command.'),
      network: z
        .strictObject({
          allow: z
            .array(z.string().min(1).max(300))
            .max(50)
            .default([])
            .describe(
              'Places the commands may reach, as `host` or `host:port` (443 where it is left out). The operator must allow each.',
            ),
        })
        .prefault({}),
    })
    .prefault({}),
  sandbox: z
    .strictObject({
      image: z
        .string()
        .min(1)
        .nullable()
        .default(null)
        .describe(
          "Image that this repository's sandboxes are made of; one that the operator allows. null: the operator's.",
        ),
    })
    .prefault({}),
  verify: z
    .strictObject({
      commands: z
        .array(z.array(z.string().min(1)).min(1).max(50))
        .max(20)
        .nullable()
        .default(null)
        .describe(
          'Commands that check the repository, each as program and arguments, run in the sandbox. null: found from its files.',
        ),
      seconds: z.int().min(1).max(3600).default(300).describe('Wall-clock limit of one command.'),
      protected: z
        .array(z.string().min(1))
        .default([])
        .describe('Globs of further files that patches may not change and verification restores.'),
    })
    .prefault({}),
  fix: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Let maintainers ask for fixes.'),
      agents: z
        .array(z.string())
        .nullable()
        .default(null)
        .describe(
          'Names of the model agents that may write; the first is used. null: the first model agent of the operator.',
        ),
      max_subtasks: z.int().min(1).max(200).default(40).describe('Rows a plan may have.'),
      on_partial: z
        .enum(['publish_rest', 'all_or_nothing'])
        .default('publish_rest')
        .describe('What happens when part of the patches cannot be merged.'),
      instructions: z
        .string()
        .max(20_000)
        .default('')
        .describe('Conventions that every fixing agent is told.'),
    })
    .prefault({}),
  triage: z
    .strictObject({
      on_open: z.boolean().default(false).describe('Triage issues when they are opened.'),
      labels: z
        .array(z.string())
        .nullable()
        .default(null)
        .describe('Labels triage may set; null: all labels of the repository but those of patchfleet.'),
      agent: z
        .enum(['model', 'none'])
        .default('model')
        .describe('Who triages. `none`: the rules alone, at once, without a model or sandbox.'),
      rules: z
        .array(
          z.strictObject({
            match: z
              .array(z.string().min(1).max(100))
              .min(1)
              .max(10)
              .describe(
                'Words or phrases; one of them must be in title or body. Case does not count, `*` stands for any characters within a word.',
              ),
            labels: z
              .array(z.string().min(1).max(100))
              .min(1)
              .max(10)
              .describe('Labels of the repository that are set then.'),
          }),
        )
        .max(50)
        .default([])
        .describe('Labels by words. They are set whoever triages.'),
    })
    .prefault({}),
  batch: z
    .strictObject({
      quiet_seconds: z
        .int()
        .min(1)
        .max(3600)
        .default(30)
        .describe('A batch begins when no issue was added for this long.'),
      max_issues: z
        .int()
        .min(1)
        .max(100)
        .default(20)
        .describe('Issues of one batch; the rest waits for the next.'),
      pull_requests: z
        .enum(['combined', 'per_issue'])
        .default('combined')
        .describe('One pull request for the batch, or one for each issue.'),
    })
    .prefault({}),
  campaigns: z
    .array(
      z.strictObject({
        name: z
          .string()
          .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
          .describe('Name of the campaign.'),
        branch: z.string().min(1).describe('A push to this branch starts it.'),
        instruction: z.string().min(1).max(20_000).describe('What is to be done.'),
      }),
    )
    .max(10)
    .default([])
    .describe('Standing instructions, started by a push.'),
  commands: z
    .array(commandAgentSchema)
    .max(10)
    .default([])
    .describe('Command agents of this repository, run in the sandbox.'),
});
export type RepositoryConfig = z.infer<typeof repositoryConfigSchema>;

/** Where the repository file lives. */
export const repositoryConfigPath = '.github/patchfleet.yml';
