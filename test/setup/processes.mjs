/** Child processes of the commands: started in a group of their own, told of signals, none left behind. */
import { spawn } from 'node:child_process';

const graceMs = 30_000;

/**
 * Runs programs one after the other and passes SIGINT, SIGTERM and SIGHUP on to the one that runs.
 * `stoppedBy()` names the signal once one came; nothing more is started then, and `signal` aborts whatever else is
 * under way.
 */
export function makeRunner() {
  let current = null;
  let stopped = null;
  const abort = new AbortController();
  const onSignal = (signal) => {
    // The second signal of an impatient person, or a child that does not end, is answered with a kill.
    const again = stopped !== null;
    stopped ??= signal;
    abort.abort(new Error(`stopped by ${stopped}`));
    if (!current) return;
    kill(current, again ? 'SIGKILL' : signal);
    if (!again) setTimeout(() => current && kill(current, 'SIGKILL'), graceMs).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);

  /** Answers the exit code. With `quiet` the output is kept and given in the error of a failure. */
  const run = (command, args, { env = process.env, quiet = false } = {}) => {
    if (stopped) return Promise.reject(new Error(`stopped by ${stopped}`));
    return new Promise((resolve, reject) => {
      const stdio = quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit';
      const child = spawn(command, args, { env, stdio, detached: true });
      current = child.pid;
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (text) => {
          output = (output + text).slice(-8000);
        });
      }
      child.on('error', (error) => {
        current = null;
        reject(new Error(`${command} could not be started: ${error.message}`));
      });
      child.on(quiet ? 'close' : 'exit', (code, signal) => {
        // What the program left in its group would go on alone.
        kill(child.pid, 'SIGKILL');
        current = null;
        if (stopped) return reject(new Error(`stopped by ${stopped}`));
        if (quiet && code !== 0)
          return reject(
            new Error(`${command} ${args.join(' ')} failed (${code ?? signal}):\n${output.trim()}`),
          );
        resolve(code ?? 1);
      });
    });
  };
  return { run, stoppedBy: () => stopped, signal: abort.signal };
}

function kill(group, signal) {
  try {
    process.kill(-group, signal);
  } catch {
    // Already gone.
  }
}

/** Waits until `condition()` holds; answers false when it did not within `timeoutMs`, or before `signal` aborted. */
export async function waitFor(condition, timeoutMs, signal = null) {
  const end = Date.now() + timeoutMs;
  while (Date.now() < end && !signal?.aborted) {
    if (await condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
