import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Names a data directory (made if missing), so that its containers are told from those of others on the same
 * engine. Made once, by whichever process comes first; never seen half-written, since an empty name would be one
 * that directories share, and one would remove the containers of the other.
 */
export async function readInstance(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const path = join(dataDir, 'instance');
  const known = await nameIn(path);
  if (known !== '') return known;
  const making = `${path}.${randomUUID()}`;
  await writeFile(making, randomUUID(), { flag: 'wx', mode: 0o444 });
  try {
    await link(making, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(making, { force: true });
  }
  const name = await nameIn(path);
  if (name === '') throw new Error(`${path} is empty: remove it, and another name is made`);
  return name;
}

async function nameIn(path: string): Promise<string> {
  return await readFile(path, 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    },
  );
}
