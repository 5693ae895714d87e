/** Programs of the machine that the commands need: found, or installed by apt where that can be. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const policy = '/usr/sbin/policy-rc.d';
/** With a line by which one that a killed set-up left is known. */
const policyText =
  '#!/bin/sh\n# Of the set-up of Patchfleet, for as long as it installs packages.\nexit 101\n';

/** Machines that have just started often install by themselves: that is waited for, seconds. */
const aptOptions = ['-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300'];

/** git with its HTTP back end; 2.38 brought `merge-tree --write-tree`. */
export async function ensureGit(context) {
  if (!hasGit()) await install(['git'], 'git with git-http-backend', context);
  const version = /(\d+)\.(\d+)/.exec(output('git', ['--version'])) ?? [];
  if (Number(version[1]) * 1000 + Number(version[2]) < 2038) {
    throw new Error(`git ${version[0] ?? ''} is too old: 2.38 or later is needed`);
  }
}

function hasGit() {
  const folder = output('git', ['--exec-path']);
  return folder !== '' && existsSync(join(folder, 'git-http-backend'));
}

/** The binary alone: tests start servers of their own. */
export async function ensureRedisServer(context) {
  if (output('redis-server', ['--version']) === '') await install(['redis-server'], 'redis-server', context);
}

/** The program alone: the storm starts an engine of its own. Where that cannot be, it says so itself. */
export async function ensureDockerd(context) {
  if (process.platform !== 'linux' || process.getuid() !== 0 || isOnPath('dockerd')) return;
  await install(['docker.io'], 'dockerd', context);
}

/**
 * gVisor where test/attacks/gvisor.ts looks for it, for whoever asks for it; nobody's engine is told of it. Where it
 * cannot be, the command says so itself.
 */
export async function ensureGvisor(context, args) {
  if (args.some((arg, at) => arg === '--runtime=runc' || (arg === 'runc' && args[at - 1] === '--runtime')))
    return;
  if (process.platform !== 'linux' || process.getuid() !== 0 || existsSync('/usr/bin/runsc')) return;
  await install(['runsc'], 'gVisor (runsc)', context);
}

/** Installs packages; no service of theirs is started, neither now nor by the init system. */
export async function install(packages, what, { run, say }) {
  const how = `apt-get install ${packages.join(' ')}`;
  if (output('apt-get', ['--version']) === '')
    throw new Error(`${what} is missing: install it (on Debian: ${how})`);
  if (process.getuid() !== 0)
    throw new Error(`${what} is missing: run \`sudo ${how}\`, or run this command as root`);
  say(`installing ${packages.join(', ')} (apt-get)`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const suppress = !existsSync(policy) || readFileSync(policy, 'utf8') === policyText;
  if (suppress) writeFileSync(policy, policyText, { mode: 0o755 });
  try {
    // One unreachable source of many fails the update as a whole; whether it matters, the install shows.
    await run('apt-get', ['update', '-qq'], { env, quiet: true }).catch(() => {});
    await run('apt-get', ['install', ...aptOptions, ...packages], { env, quiet: true });
  } finally {
    if (suppress) rmSync(policy, { force: true });
  }
}

function output(command, args) {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** Whether a program of that name is on the path (or where Debian keeps programs for root). */
export function isOnPath(name) {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'];
  return folders.some((folder) => folder !== '' && existsSync(join(folder, name)));
}
