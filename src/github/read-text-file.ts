import { classifyError } from '../domain/github-problem.ts';
import type { RepositoryRef } from '../domain/task.ts';
import type { InstallationClient } from './port.ts';

/** A text file of that commit; a reason where it is there but no text; null where it is not there. */
export async function readTextFile(
  client: InstallationClient,
  repository: Pick<RepositoryRef, 'owner' | 'name'>,
  commit: string,
  path: string,
): Promise<{ readonly text: string } | { readonly refused: string } | null> {
  const { owner, name: repo } = repository;
  let data: unknown;
  try {
    ({ data } = await client.rest.repos.getContent({ owner, repo, path, ref: commit }));
  } catch (error) {
    if (classifyError(error)?.status === 404) return null;
    throw error;
  }
  const file = data as { type?: string; encoding?: string; content?: string };
  if (Array.isArray(data) || file.type !== 'file') return { refused: 'is not a file' };
  // GitHub leaves the content of files over 1 MB out.
  if (file.encoding !== 'base64' || file.content === undefined) return { refused: 'is far too large' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(file.content, 'base64')) };
  } catch {
    return { refused: 'is not UTF-8 text' };
  }
}
