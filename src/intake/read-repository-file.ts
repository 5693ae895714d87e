import { readRepositoryConfig } from '../config/read-repository-config.ts';
import { formatProblem, type Problem } from '../config/read-yaml-config.ts';
import { type RepositoryConfig, repositoryConfigPath } from '../config/repository-config.ts';
import type { Failure } from '../domain/failure.ts';
import type { RepositoryRef } from '../domain/task.ts';
import { classifyError } from '../github/classify-error.ts';
import type { InstallationClient } from '../github/port.ts';

export type RepositoryFile =
  | { readonly config: RepositoryConfig; readonly failure: null }
  | { readonly config: null; readonly failure: Failure };

/**
 * The repository file as it is at `commit`, a commit of the base branch. Missing: the defaults. Broken: a
 * failure that lists every problem with key, line and a valid value. Rejects when GitHub cannot be asked.
 */
export async function readRepositoryFile(
  client: InstallationClient,
  repository: Pick<RepositoryRef, 'owner' | 'name'>,
  commit: string,
  operatorAgents: readonly string[],
): Promise<RepositoryFile> {
  const content = await readContent(client, repository, commit);
  if (content !== null && content.kind !== 'text') return broken([notAFile(content.kind)]);
  const read = readRepositoryConfig(content?.text ?? null, operatorAgents);
  return read.ok ? { config: read.value, failure: null } : broken(read.problems);
}

async function readContent(
  client: InstallationClient,
  repository: Pick<RepositoryRef, 'owner' | 'name'>,
  commit: string,
): Promise<{ kind: 'text'; text: string } | { kind: 'other' | 'large' | 'binary' } | null> {
  const { owner, name: repo } = repository;
  let data: unknown;
  try {
    ({ data } = await client.rest.repos.getContent({ owner, repo, path: repositoryConfigPath, ref: commit }));
  } catch (error) {
    if (classifyError(error)?.status === 404) return null;
    throw error;
  }
  const file = data as { type?: string; encoding?: string; content?: string };
  if (Array.isArray(data) || file.type !== 'file') return { kind: 'other' };
  // GitHub leaves the content of files over 1 MB out.
  if (file.encoding !== 'base64' || file.content === undefined) return { kind: 'large' };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(file.content, 'base64'));
    return { kind: 'text', text };
  } catch {
    return { kind: 'binary' };
  }
}

function notAFile(kind: 'other' | 'large' | 'binary'): Problem {
  const message = { other: 'is not a file', large: 'is far too large', binary: 'is not UTF-8 text' }[kind];
  return { key: '', line: 1, column: 1, message, valid: 'a YAML file' };
}

function broken(problems: readonly Problem[]): { config: null; failure: Failure } {
  const detail = problems.map((problem) => formatProblem(repositoryConfigPath, problem)).join('\n');
  return { config: null, failure: { code: 'config_invalid', detail } };
}
