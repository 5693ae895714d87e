import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Docker from 'dockerode';
import { execa } from 'execa';
import { isRunning } from '../../../src/store/processes.ts';
import { until } from '../../support/app/until.ts';

/**
 * A Docker engine of the test's own: nothing of the machine's engine is touched but the sandbox image, which is
 * copied out of it. Sandboxes have no network, so it needs no bridge and no firewall.
 */
export interface OwnEngine {
  /** For `DOCKER_HOST`. */
  readonly host: string;
  readonly docker: Docker;
  /** Stops it, which ends its containers, and starts it again over the same directory after a while. */
  restart(awayMs: number): Promise<void>;
  /** Stops it and removes all that it had. */
  stop(): Promise<void>;
}

const stopLimitMs = 30_000;
/** Its names in a containerd that it might share with the machine's engine. */
const namespaces = ['--containerd-namespace=storm', '--containerd-plugins-namespace=storm-plugins'];

/** Why there can be none here; null: there can. */
export function whyNoEngine(): string | null {
  if (process.platform !== 'linux') return 'a Docker engine of its own can be started on Linux alone';
  if (process.getuid?.() !== 0) return 'a Docker engine of its own can be started by root alone';
  const folders = searchPath().split(':');
  const found = folders.some((folder) => folder !== '' && existsSync(join(folder, 'dockerd')));
  return found ? null : 'there is no dockerd on this machine: install docker.io';
}

/** Debian keeps dockerd where not every user looks. */
function searchPath(): string {
  return `${process.env['PATH']}:/usr/sbin:/sbin`;
}

export async function startOwnEngine(image: string): Promise<OwnEngine> {
  const dir = await mkdtemp(join(tmpdir(), 'dockerd-'));
  const socket = join(dir, 'docker.sock');
  const docker = new Docker({ socketPath: socket });
  let daemon: Daemon | null = null;
  const start = async () => {
    daemon = await startDaemon(dir, socket, docker);
  };
  const stop = async () => {
    await daemon?.stop();
    await unmountBelow(dir);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await start();
    await docker.loadImage(await new Docker().getImage(image).get()).then(untilRead);
    await docker.getImage(image).inspect();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    host: `unix://${socket}`,
    docker,
    async restart(awayMs) {
      await daemon?.stop();
      await delay(awayMs);
      await start();
    },
    stop,
  };
}

interface Daemon {
  stop(): Promise<void>;
}

async function startDaemon(dir: string, socket: string, docker: Docker): Promise<Daemon> {
  const logFile = join(dir, 'dockerd.log');
  const log = openSync(logFile, 'a');
  const places = [`--data-root=${dir}/data`, `--exec-root=${dir}/exec`, `--pidfile=${dir}/pid`];
  const daemon = spawn(
    'dockerd',
    ['--bridge=none', '--iptables=false', `--host=unix://${socket}`, ...places, ...namespaces],
    {
      // Ctrl-C must reach it last, after the containers have been removed.
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, PATH: searchPath() },
    },
  );
  closeSync(log);
  const ended = once(daemon, 'exit').then(
    () => 'ended',
    () => 'ended',
  );
  const answers = () =>
    docker.ping().then(
      () => true,
      () => daemon.exitCode !== null,
    );
  await until('the own Docker engine answers', answers, {
    describe: async () => (await readFile(logFile, 'utf8')).slice(-2000),
  });
  if (daemon.exitCode !== null)
    throw new Error(`dockerd does not start:\n${(await readFile(logFile, 'utf8')).slice(-2000)}`);
  return { stop: () => stopDaemon(daemon, ended) };
}

async function stopDaemon(daemon: ChildProcess, ended: Promise<unknown>): Promise<void> {
  const children = await childrenOf(daemon.pid ?? 0);
  daemon.kill('SIGTERM');
  const late = setTimeout(() => daemon.kill('SIGKILL'), stopLimitMs);
  await ended;
  clearTimeout(late);
  // containerd is its child, and normally ends with it.
  const gone = async () => (await Promise.all(children.map(isRunning))).every((runs) => !runs);
  await until('its containerd has ended', gone, { limitMs: 10_000 }).catch(() => {
    for (const pid of children) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
}

async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return list.trim() === '' ? [] : list.trim().split(/\s+/).map(Number);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Mounts that a killed engine left: its directory could not be removed with them. */
async function unmountBelow(dir: string): Promise<void> {
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
  const own = mounts.filter((path) => path.startsWith(`${dir}/`)).toSorted((a, b) => b.length - a.length);
  for (const path of own) await execa('umount', ['--lazy', path], { reject: false });
}

/** The answer to a load is a stream of progress; it is loaded when that ends. */
async function untilRead(stream: NodeJS.ReadableStream): Promise<void> {
  let text = '';
  for await (const chunk of stream) text = (text + String(chunk)).slice(-4000);
  if (/"error"/.test(text)) throw new Error(`the sandbox image could not be loaded: ${text}`);
}
