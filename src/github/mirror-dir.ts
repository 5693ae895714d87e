import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PatchfleetError } from '../domain/failure.ts';
import { runGit } from './run-git.ts';

/**
 * The bare repository of a GitHub repository id, made if it is not there. It is made elsewhere and renamed
 * into place, so that a directory under its final name is whole, whoever dies when; of two processes that
 * make it at once the second finds the first one's.
 */
export async function ensureMirrorDir(dir: string, repositoryId: number): Promise<string> {
  const path = join(dir, `${repositoryId}.git`);
  if (await isRepository(path)) return path;
  await mkdir(dir, { recursive: true });
  const draft = join(dir, `.new-${repositoryId}-${randomUUID()}`);
  await runGit(['init', '--quiet', '--bare', '--template=', '--object-format=sha1', draft]);
  try {
    await rename(draft, path);
  } catch (error) {
    // Another process was faster, or other hands left something that is no repository.
    if (!(await isRepository(path))) await complete(path, draft, error);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return path;
}

/**
 * Completes a directory where it lies: to move it away could take away what another process has just put
 * there. Each step leaves the same behind whoever takes it, so many may.
 */
async function complete(path: string, draft: string, cause: unknown): Promise<void> {
  try {
    for (const part of ['objects', 'refs']) await mkdir(join(path, part), { recursive: true });
    for (const part of ['config', 'HEAD']) await rename(join(draft, part), join(path, part));
  } catch (error) {
    throw new PatchfleetError('git_failed', `${path} is in the way of a mirror: ${String(error)}`, { cause });
  }
}

async function isRepository(path: string): Promise<boolean> {
  const parts = ['HEAD', 'config', 'objects', 'refs'].map((name) => access(join(path, name)));
  return (await Promise.allSettled(parts)).every((part) => part.status === 'fulfilled');
}
