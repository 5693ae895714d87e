import type { Stats } from 'node:fs';
import { chown, lstat, mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SandboxUser } from '../container/container-spec.ts';

/** In the layer's `.git`: what of it git is not to look at, for the tools and for execution/workspace-patch.ts. */
const excludes = ['info/exclude', 'patchfleet-exclude'];

/**
 * Moves what a setup added from `written` to `layer` (an empty directory): everything that the snapshot does not have.
 * What the snapshot has as well stays behind, so what a setup changed, replaced or removed of the repository's files
 * is undone, and the layer fits over every snapshot that has nothing in its places. `written` is what a workspace
 * kept: the upper directory of an overlay, or a whole copy.
 *
 * Code that nobody has read wrote `written`; nothing runs in it any more. Types are read before anything is done, only
 * directories are entered, and everything else is moved as it is, unopened.
 */
export async function separateLayer(
  places: { readonly written: string; readonly snapshot: string; readonly layer: string },
  user: SandboxUser,
): Promise<void> {
  const added: Buffer[] = [];
  const made = new Set<string>(['']);
  const own = async (path: string | Buffer) => {
    if (process.getuid?.() === 0) await chown(path, user.uid, user.gid);
  };
  /** A directory that the snapshot has too: new, so that no mark of an overlay comes with it. */
  const makeDirectory = async (path: Buffer): Promise<void> => {
    const key = path.toString('latin1');
    if (made.has(key)) return;
    made.add(key);
    await makeDirectory(parentOf(path));
    await mkdir(below(places.layer, path), { mode: 0o755 });
    await own(below(places.layer, path));
  };
  const walk = async (directory: Buffer): Promise<void> => {
    for (const name of await readdir(below(places.written, directory), { encoding: 'buffer' })) {
      const path = directory.length === 0 ? name : Buffer.concat([directory, Buffer.from('/'), name]);
      if (path.toString('latin1') === '.git') continue;
      const stats = await lstat(below(places.written, path));
      // Of a device only the overlay's mark of something removed can be here.
      if (stats.isCharacterDevice() || stats.isBlockDevice()) continue;
      const before = await statsOf(below(places.snapshot, path));
      if (before === null) {
        await makeDirectory(directory);
        await rename(below(places.written, path), below(places.layer, path));
        added.push(stats.isDirectory() ? Buffer.concat([path, Buffer.from('/')]) : path);
      } else if (before.isDirectory() && stats.isDirectory()) await walk(path);
    }
  };
  await walk(Buffer.alloc(0));
  await own(places.layer);
  await writeExcludes(places.layer, added, own);
}

/** Whether something of the layer lies where the snapshot has a file: over that snapshot it would hide it. */
export async function hidesFiles(layer: string, snapshot: string): Promise<boolean> {
  const walk = async (directory: Buffer): Promise<boolean> => {
    for (const name of await readdir(below(layer, directory), { encoding: 'buffer' })) {
      const path = directory.length === 0 ? name : Buffer.concat([directory, Buffer.from('/'), name]);
      if (path.toString('latin1') === '.git') continue;
      const before = await statsOf(below(snapshot, path));
      if (before === null) continue;
      const stats = await lstat(below(layer, path));
      if (!stats.isDirectory() || !before.isDirectory() || (await walk(path))) return true;
    }
    return false;
  };
  return await walk(Buffer.alloc(0));
}

/** So that what was prepared is not what an agent made. A name with a newline cannot be written there. */
async function writeExcludes(
  layer: string,
  added: readonly Buffer[],
  own: (path: string) => Promise<void>,
): Promise<void> {
  const lines = added
    .map((path) => path.toString('latin1'))
    .filter((path) => !/[\n\r]/.test(path))
    .map((path) => `/${path.replaceAll(/[\\*?[\] ]/g, (special) => `\\${special}`)}\n`)
    .toSorted();
  const gitDir = join(layer, '.git');
  for (const directory of [gitDir, join(gitDir, 'info')]) {
    await mkdir(directory, { mode: 0o755 });
    await own(directory);
  }
  for (const name of excludes) {
    const file = join(gitDir, name);
    await writeFile(file, Buffer.from(lines.join(''), 'latin1'), { mode: 0o644 });
    await own(file);
  }
}

async function statsOf(path: Buffer): Promise<Stats | null> {
  return await lstat(path).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR') return null;
    throw thrown;
  });
}

function below(root: string, path: Buffer): Buffer {
  return path.length === 0 ? Buffer.from(root) : Buffer.concat([Buffer.from(`${root}/`), path]);
}

function parentOf(path: Buffer): Buffer {
  const parent = dirname(path.toString('latin1'));
  return parent === '.' ? Buffer.alloc(0) : Buffer.from(parent, 'latin1');
}
