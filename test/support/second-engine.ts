import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Docker from 'dockerode';
import { isRunning } from '../../src/store/processes.ts';
import { until } from './app/until.ts';
import { type LoopDisk, mountLoopDisk, unmountBelow } from './loop-disk.ts';

/**
 * A Docker engine of the test's own, with its own containerd, runtimes, data and sockets: nothing of the machine's
 * engine is touched but images, which are copied out of it. Sandboxes have no network, so it needs no bridge and no
 * firewall.
 */
export interface SecondEngine {
  /** For `DOCKER_HOST`. */
  readonly host: string;
  readonly docker: Docker;
  /** Below its data directory lies all that it keeps of images and containers. */
  readonly dataDir: string;
  /** Copies an image out of the machine's engine. */
  loadImage(tag: string): Promise<void>;
  /** Ends the daemon: told to (SIGTERM, the default), it ends its containers; killed (SIGKILL), it leaves them running. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Starts the daemon again over what there is. Does nothing where it runs. */
  start(): Promise<void>;
  /** Stops it and starts it again after a while. */
  restart(awayMs?: number): Promise<void>;
  /** Stops it and removes all that it had: containers, shims, mounts, loop devices, files. */
  end(): Promise<void>;
}

export interface SecondEngineOptions {
  /** Its data lie on a file system of their own of so many MiB. By default on that of the temporary directory. */
  readonly diskMib?: number;
  /** Runtimes beside its own `runc`, by name. */
  readonly runtimes?: Readonly<Record<string, { readonly path: string; readonly args?: readonly string[] }>>;
}

const stopLimitMs = 120_000;
/** Name of its containers in its containerd. */
const namespace = 'second';

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

/** Started, and answering. */
export async function startSecondEngine(options: SecondEngineOptions = {}): Promise<SecondEngine> {
  const dir = await mkdtemp(join(tmpdir(), 'dockerd-'));
  const dataDir = join(dir, 'data');
  const socket = join(dir, 'docker.sock');
  const docker = new Docker({ socketPath: socket });
  let disk: LoopDisk | null = null;
  let daemons: Daemons | null = null;

  const start = async () => {
    daemons ??= await startDaemons(dir, docker);
  };
  const stop = async (signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM') => {
    const running = daemons;
    daemons = null;
    await running?.stop(signal);
  };
  const end = async () => {
    await stop();
    await killShims(dir);
    await unmountBelow(dataDir);
    await disk?.end();
    await unmountBelow(dir);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await mkdir(dataDir);
    if (options.diskMib !== undefined) disk = await mountLoopDisk(dir, 'data', options.diskMib);
    await writeSettings(dir, options);
    await start();
  } catch (error) {
    await end();
    throw error;
  }
  return {
    host: `unix://${socket}`,
    docker,
    dataDir,
    async loadImage(tag) {
      await docker.loadImage(await new Docker().getImage(tag).get()).then(untilRead);
      await docker.getImage(tag).inspect();
    },
    stop,
    start,
    async restart(awayMs = 0) {
      await stop();
      await delay(awayMs);
      await start();
    },
    end,
  };
}

/** Of its own, so that it reads no configuration of the machine's, and shares no containerd with it. */
async function writeSettings(dir: string, { runtimes = {} }: SecondEngineOptions): Promise<void> {
  const containerd = [
    'version = 2',
    `root = "${dir}/data/containerd"`,
    `state = "${dir}/containerd"`,
    'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
    '[grpc]',
    `address = "${containerdSocket(dir)}"`,
  ];
  const named = Object.entries(runtimes).map(([name, { path, args = [] }]) => [
    name,
    { path, runtimeArgs: args },
  ]);
  await writeFile(join(dir, 'containerd.toml'), `${containerd.join('\n')}\n`);
  await writeFile(join(dir, 'daemon.json'), JSON.stringify({ runtimes: Object.fromEntries(named) }));
}

const containerdSocket = (dir: string) => join(dir, 'containerd.sock');

interface Daemons {
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

async function startDaemons(dir: string, docker: Docker): Promise<Daemons> {
  const containerd = startDaemon(dir, 'containerd', [`--config=${dir}/containerd.toml`]);
  try {
    await containerd.until('containerd listens', async () => existsSync(containerdSocket(dir)));
    const dockerd = startDaemon(dir, 'dockerd', [
      ...['--bridge=none', '--iptables=false', `--host=unix://${dir}/docker.sock`],
      ...[`--data-root=${dir}/data`, `--exec-root=${dir}/exec`, `--pidfile=${dir}/pid`],
      ...[`--config-file=${dir}/daemon.json`, `--containerd=${containerdSocket(dir)}`],
      ...[`--containerd-namespace=${namespace}`, `--containerd-plugins-namespace=${namespace}-plugins`],
    ]);
    const answers = () =>
      docker.ping().then(
        () => true,
        () => false,
      );
    try {
      await dockerd.until('the second Docker engine answers', answers);
    } catch (error) {
      await dockerd.stop('SIGKILL');
      throw error;
    }
    return {
      async stop(signal) {
        await dockerd.stop(signal);
        await containerd.stop(signal);
      },
    };
  } catch (error) {
    await containerd.stop('SIGKILL');
    throw error;
  }
}

function startDaemon(dir: string, program: 'dockerd' | 'containerd', args: readonly string[]) {
  const logFile = join(dir, `${program}.log`);
  const log = openSync(logFile, 'a');
  const daemon = spawn(program, args, {
    // Ctrl-C must reach it last, after the containers have been removed.
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, PATH: searchPath() },
  });
  closeSync(log);
  const ended = once(daemon, 'exit').then(
    () => 'ended',
    () => 'ended',
  );
  const describe = async () => (await readFile(logFile, 'utf8')).slice(-2000);
  return {
    async stop(signal: 'SIGTERM' | 'SIGKILL') {
      daemon.kill(signal);
      const late = setTimeout(() => daemon.kill('SIGKILL'), stopLimitMs);
      await ended;
      clearTimeout(late);
    },
    async until(what: string, ask: () => Promise<boolean>) {
      const over = () => daemon.exitCode !== null || daemon.signalCode !== null || daemon.pid === undefined;
      await until(what, async () => over() || (await ask()), { describe });
      if (over()) throw new Error(`${program} does not start:\n${await describe()}`);
    },
  };
}

/** Where a killed engine left containers running, they go, and what kept them. */
async function killShims(dir: string): Promise<void> {
  const shims: { pid: number; args: string[] }[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const args = (await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')).split('\0');
    if (args.includes(containerdSocket(dir)) && args[0]?.includes('containerd-shim') === true)
      shims.push({ pid: Number(entry), args });
  }
  const sockets = shims.map(({ args }) => shimSocket(dir, args[args.indexOf('-id') + 1] ?? ''));
  // Containers first: they would outlive their shims.
  const containers = (await Promise.all(shims.map(({ pid }) => childrenOf(pid)))).flat();
  const pids = [...containers, ...shims.map(({ pid }) => pid)];
  for (const pid of pids) kill(pid);
  const gone = async () => (await Promise.all(pids.map(isRunning))).every((runs) => !runs);
  await until('the containers of the second engine have ended', gone);
  for (const socket of sockets) await rm(socket, { force: true });
}

/** Shims put their sockets into one directory of the machine, named by whose they are. */
function shimSocket(dir: string, container: string): string {
  const name = createHash('sha256')
    .update(join(containerdSocket(dir), namespace, container))
    .digest('hex');
  return join('/run/containerd/s', name);
}

async function childrenOf(pid: number): Promise<number[]> {
  const list = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return list.trim() === '' ? [] : list.trim().split(/\s+/).map(Number);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ended meanwhile.
  }
}

/** The answer to a load is a stream of progress; it is loaded when that ends. */
async function untilRead(stream: NodeJS.ReadableStream): Promise<void> {
  let text = '';
  for await (const chunk of stream) text = (text + String(chunk)).slice(-4000);
  if (/"error"/.test(text)) throw new Error(`the image could not be loaded: ${text}`);
}
