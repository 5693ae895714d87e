import { allowedNetwork } from '../config/allowed-network.ts';
import type { OperatorConfig } from '../config/operator-config.ts';
import { readRepositoryConfig } from '../config/read-repository-config.ts';
import { formatProblem, type Problem } from '../config/read-yaml-config.ts';
import { type RepositoryConfig, repositoryConfigPath } from '../config/repository-config.ts';
import { imageFor } from '../config/select-image.ts';
import { type Failure, toFailure } from '../domain/failure.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { GitHub } from '../github/port.ts';

export type RepositoryFile =
  | { readonly config: RepositoryConfig; readonly failure: null }
  | { readonly config: null; readonly failure: Failure };

/**
 * The repository file as it is at `baseSha`, a commit of a branch of the repository itself. Missing: the
 * defaults. Broken: a failure that lists every problem with key, line and a valid value. An image or a place
 * to reach that the operator does not allow is told here too, before anything is spent. Rejects when GitHub cannot be
 * asked.
 */
export async function readRepositoryFile(
  github: GitHub,
  { repository, baseSha }: { readonly repository: RepositoryRef; readonly baseSha: string },
  operator: Pick<OperatorConfig, 'agents' | 'sandbox'>,
): Promise<RepositoryFile> {
  const file = await github.readTextFile(repository, baseSha, repositoryConfigPath);
  if (file !== null && 'refused' in file) {
    return broken([{ key: '', line: 1, column: 1, message: file.refused, valid: 'a YAML file' }]);
  }
  const read = readRepositoryConfig(file?.text ?? null, operator.agents);
  if (!read.ok) return broken(read.problems);
  try {
    imageFor(operator.sandbox, read.value);
    allowedNetwork(operator.sandbox, read.value);
  } catch (refused) {
    return { config: null, failure: toFailure(refused) };
  }
  return { config: read.value, failure: null };
}

function broken(problems: readonly Problem[]): { config: null; failure: Failure } {
  const detail = problems.map((problem) => formatProblem(repositoryConfigPath, problem)).join('\n');
  return { config: null, failure: { code: 'config_invalid', detail } };
}
