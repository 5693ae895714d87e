/** A Docker engine: the one that answers, else one that is started here and stopped again at the end. */
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, endpoint } from '../../sandbox/build/engine.mjs';
import { isAlive, waitFor } from './processes.mjs';
import { install, isOnPath } from './tools.mjs';

const readyMs = 60_000;
const stopMs = 60_000;

/** Answers the engine and how to stop it, which does nothing for an engine that was there before. */
export async function ensureEngine(context) {
  const engine = endpoint();
  if (await answers(engine)) return { engine, stop: async () => {} };
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
  return { engine, stop: await startEngine(engine, context.scratch) };
}

/** Starts `dockerd` by hand, with or without an init system. `extra` are further options of it. */
export async function startEngine(engine, scratch, extra = []) {
  const first = await tryStart(engine, scratch, extra);
  if (first.stop) return first.stop;
  // Some kernels let no bridge be made; sandboxes have no network, so that an engine without one will do.
  const second = await tryStart(engine, scratch, [...extra, '--bridge=none', '--iptables=false']);
  if (second.stop) return second.stop;
  throw new Error(`dockerd does not start:\n${second.log}`);
}

async function tryStart(engine, scratch, options) {
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
  const ready = await waitFor(async () => ended || (await answers(engine)), readyMs);
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
