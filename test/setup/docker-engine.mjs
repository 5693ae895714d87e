/** A Docker engine: the one that answers, else one that is started here and stopped again at the end. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, call, endpoint } from '../../sandbox/build/engine.mjs';
import { isAlive, waitFor } from './processes.mjs';
import { install, isOnPath } from './tools.mjs';

const readyMs = 60_000;
const stopMs = 60_000;
/** Whoever says nothing for so long, ms, may say something yet. */
const slowMs = 4_000;
/** Of Docker 20.10: what sandboxes ask for that older engines pass over in silence, such as control groups of their own. */
const leastApi = '1.41';

/** Answers the engine and how to stop it; null for an engine that was there before. Rejects with an engine that is too old. */
export async function ensureEngine(context) {
  const engine = endpoint();
  if (await isThere(engine)) {
    await requireVersion(engine);
    return { engine, stop: null };
  }
  if (process.env.DOCKER_HOST)
    throw new Error(`no Docker engine answers at DOCKER_HOST=${engine.name}: start it, or unset DOCKER_HOST`);
  if (process.platform !== 'linux')
    throw new Error('no Docker engine answers: start Docker Desktop (or any engine) and try again');
  if (process.getuid() !== 0) {
    throw new Error(
      `no Docker engine answers at ${engine.name}: start it (sudo systemctl start docker), make sure this user may use it, or run as root`,
    );
  }
  if (!isOnPath('dockerd')) await install(['docker.io'], 'a Docker engine', context);
  context.say('starting the Docker engine');
  const stop = await startEngine(engine, context);
  try {
    await requireVersion(engine);
  } catch (error) {
    await stop();
    throw error;
  }
  return { engine, stop };
}

/** One that is held up for seconds is there all the same, and none could be started beside it. */
async function isThere(engine) {
  for (let tries = 0; tries < 5; tries += 1) {
    const since = performance.now();
    if (await answers(engine)) return true;
    // Nobody listens, or it says no.
    if (performance.now() - since < slowMs) return false;
  }
  return false;
}

/** Rejects where the engine is older than what sandboxes need. */
export async function requireVersion(engine) {
  const { status, text } = await call(engine, 'GET', '/version', { timeoutMs: 60_000 });
  if (status !== 200) throw new Error(`${engine.name} answered ${status} when asked for its version`);
  const { ApiVersion: api = '0', Version: version = 'unknown' } = JSON.parse(text);
  const order = (dotted) => dotted.split('.').reduce((sum, part) => sum * 1000 + Number(part), 0);
  if (order(api) < order(leastApi))
    throw new Error(`the Docker engine at ${engine.name} is too old (${version}): 20.10 or later is needed`);
}

/** Starts `dockerd` by hand, with or without an init system. */
async function startEngine(engine, { scratch, signal }) {
  const first = await tryStart(engine, scratch, signal, []);
  if (first.stop) return first.stop;
  signal.throwIfAborted();
  // Some kernels let no bridge be made; sandboxes have no network, so that an engine without one will do.
  const second = await tryStart(engine, scratch, signal, ['--bridge=none', '--iptables=false']);
  if (second.stop) return second.stop;
  signal.throwIfAborted();
  throw new Error(`dockerd does not start:\n${second.log}`);
}

async function tryStart(engine, scratch, signal, options) {
  const logFile = join(scratch, 'dockerd.log');
  const log = openSync(logFile, 'w');
  // A session of its own: Ctrl-C must reach it last, after the containers have been removed.
  const path = `${process.env.PATH}:/usr/sbin:/sbin`;
  const daemon = spawn('dockerd', options, {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...process.env, PATH: path },
  });
  closeSync(log);
  let ended = false;
  const end = new Promise((resolve) => {
    for (const event of ['exit', 'error']) {
      daemon.once(event, () => {
        ended = true;
        resolve();
      });
    }
  });
  const ready = await waitFor(async () => ended || (await answers(engine)), readyMs, signal);
  const children = ended ? [] : childrenOf(daemon.pid);
  const stop = async () => {
    daemon.kill('SIGTERM');
    const late = setTimeout(() => daemon.kill('SIGKILL'), stopMs);
    await end;
    clearTimeout(late);
    // containerd is dockerd's child and normally ends with it.
    const gone = () => !children.some(isAlive);
    if (await waitFor(gone, 10_000)) return;
    for (const pid of children.filter(isAlive)) process.kill(pid, 'SIGKILL');
  };
  if (ready && !ended) return { stop };
  if (!ended) await stop();
  return { log: readFileSync(logFile, 'utf8').slice(-2000).trim() };
}

function childrenOf(pid) {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const threads = list === '' ? [] : list.split(/\s+/).map(Number);
  return threads;
}
