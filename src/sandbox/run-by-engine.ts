import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { createHeadTail } from '../../sandbox/head-tail.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { type Engine, engineProblem, openStream } from './docker-host.ts';
import { readDockerStream } from './docker-stream.ts';
import type { RunResult } from './port.ts';

/** How much longer than its limit a command may take to be killed inside, before the sandbox counts as dead, ms. */
const killSlackMs = 15_000;
/** How often the engine is asked whether the command has ended, ms: a child that was left behind may hold its output. */
const lookMs = 500;
/** What `timeout` exits with when it had to kill, or is killed itself. */
const killedCodes = [124, 137];

export interface EngineRun {
  readonly argv: readonly string[];
  /** Absolute, inside the container. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly wallMs: number;
  readonly maxBuffer: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a program in a running container by an exec of the engine. The exit code and the output come from the
 * engine, not through the tool server, which shares its user with whatever runs in the sandbox: what a patch
 * brings can end itself as it likes, but cannot speak for the command that checks it. `timeout` of the image
 * bounds it. Fails with `sandbox_died` when the container ends meanwhile.
 */
export async function runByEngine(engine: Engine, containerId: string, run: EngineRun): Promise<RunResult> {
  const { argv, cwd, env, wallMs, maxBuffer, signal } = run;
  const seconds = String(Math.max(1, Math.ceil(wallMs / 1000)));
  const container = engine.requests.getContainer(containerId);
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  try {
    signal.throwIfAborted();
    const { id } = await container.exec({
      Cmd: ['timeout', '--signal=KILL', seconds, ...argv],
      WorkingDir: cwd,
      Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
      AttachStdout: true,
      AttachStderr: true,
    });
    const exec = engine.requests.getExec(id);
    const stream = await openStream(signal, (abortSignal) =>
      engine.streams.getExec(id).start({ hijack: true, stdin: false, abortSignal }),
    );
    const output = { stdout: createHeadTail(maxBuffer), stderr: createHeadTail(maxBuffer) };
    const read = (async () => {
      for await (const part of readDockerStream(stream as AsyncIterable<Buffer>))
        output[part.stream].push(part.data);
    })();
    try {
      const exitCode = await ended(exec, read, wallMs + killSlackMs, signal);
      // Killed, by its limit or by itself, or because the whole container ended under it.
      if (killedCodes.includes(exitCode)) await requireAlive(container, signal);
      return result(exitCode, output.stdout, output.stderr, elapsed(), wallMs);
    } finally {
      stream.destroy();
      await read.catch(() => {});
    }
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof PatchfleetError) throw thrown;
    throw new PatchfleetError('sandbox_died', engineProblem(thrown), { cause: thrown });
  }
}

/** Looks, ms apart: the engine notes the end of a container a moment after that of what ran in it. */
const lastLooks = [0, 100, 300, 600];

async function requireAlive(container: Docker.Container, signal: AbortSignal): Promise<void> {
  let { State: state } = await container.inspect();
  for (const wait of lastLooks) {
    if (!state.Running) break;
    await delay(wait, undefined, { signal });
    state = (await container.inspect()).State;
  }
  if (state.Running) return;
  const why = state.OOMKilled ? 'it ran out of memory' : `it ended with exit code ${state.ExitCode}`;
  throw new PatchfleetError('sandbox_died', `the container ended while a check ran: ${why}`);
}

/** The exit code, once the engine has it. */
async function ended(
  exec: Docker.Exec,
  read: Promise<void>,
  limitMs: number,
  signal: AbortSignal,
): Promise<number> {
  const over = read.then(
    () => true,
    () => true,
  );
  for (const limit = performance.now() + limitMs; ; ) {
    const closed = await Promise.race([over, delay(lookMs, false, { signal })]);
    const { Running: running, ExitCode: code } = await exec.inspect();
    if (!running) {
      // A command whose container was killed under it has no code of its own.
      if (code === null) throw new PatchfleetError('sandbox_died', 'the container ended while a check ran');
      // What was said last may still be on its way.
      if (!closed) await Promise.race([over, delay(lookMs, false, { signal })]);
      return code;
    }
    // The engine closes the output a moment before it notes the end.
    if (closed) await delay(20, undefined, { signal });
    if (performance.now() > limit)
      throw new PatchfleetError('sandbox_died', 'a check could not be killed at its limit');
  }
}

function result(
  exitCode: number,
  stdout: ReturnType<typeof createHeadTail>,
  stderr: ReturnType<typeof createHeadTail>,
  durationMs: number,
  wallMs: number,
): RunResult {
  const said = stderr.text();
  const missing =
    exitCode === 126 || exitCode === 127 ? /^timeout: failed to run command.*$/m.exec(said) : null;
  const timedOut = killedCodes.includes(exitCode) && durationMs >= wallMs;
  return {
    exitCode: missing !== null || timedOut ? null : exitCode,
    signal: timedOut ? 'SIGKILL' : null,
    stdout: stdout.text(),
    stderr: said,
    timedOut,
    isCanceled: false,
    isMaxBuffer: stdout.truncated || stderr.truncated,
    spawnError: missing?.[0] ?? null,
    durationMs,
  };
}
