/**
 * Commands that run on one machine at the same time know of each other by names of sockets without a file: the kernel
 * takes such a name back at once when its process ends, however that was. Linux alone has them; elsewhere, and where
 * they are not to be had, nobody is known, and nobody waits.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const prefix = 'patchfleet-';
/** All that the kernel has for a name: versions of Node fill up a shorter one differently. */
const nameBytes = 108;
const lookMs = 200;

const full = (name) => `\0${prefix}${name}`.padEnd(nameBytes, '.');

/** Takes a name for this process; answers how to give it back, or null: another process has it. */
export async function takeName(name) {
  if (process.platform !== 'linux') return async () => {};
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(full(name), resolve);
    });
  } catch (error) {
    return error.code === 'EADDRINUSE' ? null : async () => {};
  }
  server.unref();
  return () => new Promise((resolve) => server.close(resolve));
}

/** Takes a name as soon as it is free; `onWait` is called once where it is not. Rejects when `signal` aborts. */
export async function waitForName(name, { signal, onWait }) {
  for (let looks = 0; ; looks += 1) {
    const release = await takeName(name);
    if (release !== null) return release;
    signal.throwIfAborted();
    if (looks === 0) onWait();
    await delay(lookMs, undefined, { signal });
  }
}

/** The names that begin so and that processes have. */
export function namesTaken(beginning) {
  return socketsOfKernel()
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf(' ') + 1))
    .filter((name) => name.startsWith(`@${prefix}${beginning}`))
    .map((name) => name.slice(`@${prefix}`.length).replace(/\.+$/, ''));
}

function socketsOfKernel() {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return '';
  }
}

/** Waits until no other process has a name that begins so; `onWait` as with {@link waitForName}. */
export async function waitForNone(beginning, { except, signal, onWait }) {
  for (let looks = 0; ; looks += 1) {
    if (namesTaken(beginning).every((name) => name === except)) return;
    signal.throwIfAborted();
    if (looks === 0) onWait();
    await delay(lookMs, undefined, { signal });
  }
}
