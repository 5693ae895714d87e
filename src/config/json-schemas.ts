import { type JsonSchema, toJsonSchema } from './describe-valid.ts';
import { environmentSchema } from './environment.ts';
import { operatorConfigSchema } from './operator-config.ts';
import { repositoryConfigPath, repositoryConfigSchema } from './repository-config.ts';

/** The three places configuration comes from, with the JSON Schema that editors complete them by. */
export const configFiles: readonly { name: string; title: string; intro: string; schema: JsonSchema }[] = [
  {
    name: 'environment',
    title: 'Environment',
    intro: 'Secrets and places. An empty variable counts as unset.',
    schema: toJsonSchema(environmentSchema),
  },
  {
    name: 'operator',
    title: 'Operator file `patchfleet.yml`',
    intro: 'What every repository gets. It may be missing; it holds no secret.',
    schema: toJsonSchema(operatorConfigSchema),
  },
  {
    name: 'repository',
    title: `Repository file \`${repositoryConfigPath}\``,
    intro: 'Read from the base branch, never from the pull request. It may be missing.',
    schema: toJsonSchema(repositoryConfigSchema),
  },
];
