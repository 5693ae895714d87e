import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
  // Something that is no repository stands in the way only if it was put there by other hands.
  await setAside(path);
  const draft = join(dir, `.new-${repositoryId}-${randomUUID()}`);
  await runGit(['init', '--quiet', '--bare', '--template=', '--object-format=sha1', draft]);
  try {
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!(await isRepository(path))) throw error;
  }
  return path;
}

async function isRepository(path: string): Promise<boolean> {
  const parts = ['HEAD', 'config', 'objects', 'refs'].map((name) => access(join(path, name)));
  return (await Promise.allSettled(parts)).every((part) => part.status === 'fulfilled');
}

async function setAside(path: string): Promise<void> {
  const aside = join(path, '..', `.old-${randomUUID()}`);
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await rm(aside, { recursive: true, force: true });
}
