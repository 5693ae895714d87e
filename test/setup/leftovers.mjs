/** What a command would leave behind: it gets a temporary directory of its own, by which all that is its own is known. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call } from '../../sandbox/build/engine.mjs';

/** Kept by Node, not by us: they go with the directory. */
const caches = /^(node-compile-cache|v8-compile-cache.*|tsx-.*)$/;

/** Short, since Unix sockets below it have paths of 107 bytes; open as /tmp is, since Postgres runs as another user. */
export function makeScratch() {
  const scratch = mkdtempSync(join(tmpdir(), 'pf-'));
  chmodSync(scratch, 0o1777);
  return scratch;
}

/** Names of files in the scratch directory that their makers should have removed. */
export function leftFiles(scratch, known = []) {
  return readdirSync(scratch).filter((name) => !caches.test(name) && !known.includes(name));
}

/** Processes that were started with the scratch directory as their TMPDIR, `except` those; Linux alone can tell. */
export function leftProcesses(scratch, except = []) {
  if (process.platform !== 'linux') return [];
  const found = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || except.includes(pid)) continue;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      if (!environment.includes(`TMPDIR=${scratch}`)) continue;
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      if (command !== '') found.push({ pid, command });
    } catch {
      // Ended meanwhile, or another user's.
    }
  }
  return found;
}

/** Containers that mount something of the scratch directory, running or not: a workspace, so a sandbox of this run. */
export async function leftContainers(engine, scratch) {
  const { status, text } = await call(engine, 'GET', '/containers/json?all=1', { timeoutMs: 60_000 });
  if (status !== 200) return [];
  return JSON.parse(text)
    .filter((container) => container.Mounts.some((mount) => mount.Source?.startsWith(`${scratch}/`)))
    .map((container) => container.Id);
}

/** Ends what is left and removes the directory; answers what had to be ended or was left in it. */
export async function removeScratch(scratch, { known = [], engine = null } = {}) {
  const processes = leftProcesses(scratch);
  const files = leftFiles(scratch, known);
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Ended by itself.
    }
  }
  const containers = engine ? await leftContainers(engine, scratch).catch(() => []) : [];
  for (const id of containers) await call(engine, 'DELETE', `/containers/${id}?force=1&v=1`).catch(() => {});
  unmountBelow(scratch);
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  return [
    ...processes.map(({ pid, command }) => `process ${pid} (${command.slice(0, 120)})`),
    ...containers.map((id) => `container ${id.slice(0, 12)}`),
    ...files.map((name) => `${scratch}/${name}`),
  ];
}

/** Mounts of a Docker engine that a command started for itself and could not stop: they would keep the directory. */
function unmountBelow(scratch) {
  if (process.platform !== 'linux') return;
  const paths = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => path.startsWith(`${scratch}/`))
    .sort((a, b) => b.length - a.length);
  for (const path of paths) spawnSync('umount', ['--lazy', path]);
}
