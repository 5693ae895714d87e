/** `npm ci`, when what is installed is not what package-lock.json says. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Installs the dependencies, Node 24 among them, unless they are there. */
export async function ensureDependencies(root, { run, say }) {
  if (isInstalled(root)) return;
  say('installing dependencies (npm ci)');
  // Under `npm run` the node on the path may be the one that npm ci is about to replace.
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  const env = { ...process.env, PATH: path.join(delimiter) };
  await run('npm', ['ci', '--no-audit', '--no-fund'], { env, quiet: true });
  if (!isInstalled(root)) {
    throw new Error(
      'npm ci ended well, yet node_modules is not what package-lock.json says: remove node_modules and run npm ci',
    );
  }
}

/** What cannot be read, since an install was cut short, is not there. */
export function isInstalled(root) {
  if (!existsSync(join(root, 'node_modules/node/bin/node'))) return false;
  let installed;
  try {
    installed = readLock(join(root, 'node_modules/.package-lock.json'));
  } catch {
    return false;
  }
  return matches(readLock(join(root, 'package-lock.json')), installed);
}

function readLock(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages;
}

/**
 * Whether an installed tree (npm's own record of it, `node_modules/.package-lock.json`, written when an install
 * has succeeded) is what the lock asks for: every package in its version, optional ones of other platforms apart,
 * and none besides. Right after `npm install` too, which a stamp of the lock's hash would not know of.
 */
export function matches(wanted, installed) {
  const names = Object.keys(wanted).filter((name) => name !== '');
  const same = (name) =>
    installed[name]?.version === wanted[name].version &&
    installed[name]?.integrity === wanted[name].integrity;
  return (
    names.every((name) =>
      name in installed ? same(name) : wanted[name].optional === true || wanted[name].peer === true,
    ) && Object.keys(installed).every((name) => name in wanted)
  );
}
