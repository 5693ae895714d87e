import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type Docker from 'dockerode';
import { cameToLimit } from '../../../sandbox/cgroup-memory.ts';
import { createHeadTail } from '../../../sandbox/head-tail.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import type { RunResult } from '../port.ts';
import { endedForMemory, memoryExhausted, readMemoryState } from './container-memory.ts';
import { usedMemory } from './container-use.ts';
import { type Engine, engineProblem, openStream } from './docker-host.ts';
import { readDockerStream } from './docker-stream.ts';

/** How much longer than its limit a command may take to be killed inside, before the sandbox counts as dead, ms. */
const killSlackMs = 15_000;
/**
 * How often the engine is asked whether the command has ended, ms: a child that was left behind may hold its output.
 * Sooner at first, for the sake of the memory that something short needs.
 */
const firstLookMs = 100;
const lookMs = 500;
/** How long an engine may need to note the end of what has closed its output, ms; more at each further look. */
const noteMs = 20;
/**
 * How often in a row the rest of what a command said is waited for, `lookMs` each, once it has ended: for as long as more
 * comes. A child that was left behind may say something for ever.
 */
const mostRests = 20;
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
 * bounds it. Fails with `sandbox_died` when the container ends meanwhile, with `memory_exhausted` where it did not
 * succeed and the kernel has killed something in this container for want of memory: a runner whose worker was killed
 * ends with whatever code it likes.
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
    let broken: unknown = null;
    let parts = 0;
    const read = (async () => {
      for await (const part of readDockerStream(stream as AsyncIterable<Buffer>)) {
        output[part.stream].push(part.data);
        parts += 1;
      }
    })().catch((thrown: unknown) => {
      broken = thrown;
    });
    try {
      const peak = watchPeak(container);
      const exitCode = await ended(exec, read, wallMs + killSlackMs, signal, peak.look);
      const tookMs = elapsed();
      await saidWhole(read, () => parts, signal);
      // Killed, by its limit or by itself, or because the whole container ended under it.
      if (exitCode === null || killedCodes.includes(exitCode)) await requireAlive(container, signal);
      if (exitCode === null) throw new PatchfleetError('sandbox_died', 'a check ended and nobody says how');
      if (exitCode !== 0) await requireMemory(engine, containerId, run);
      // Tests that were not heard of would count as vanished.
      if (broken !== null) throw broken;
      return {
        ...result(exitCode, output.stdout, output.stderr, tookMs, wallMs),
        ...{ peakMemoryBytes: await peak.end(), outOfMemory: false },
      };
    } finally {
      stream.destroy();
      await read;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    if (thrown instanceof PatchfleetError) throw thrown;
    // Nothing can be started in a container that has ended; how it did says more.
    const state = await container.inspect().catch(() => null);
    if (state !== null && endedForMemory(state.State)) throw exhausted(state);
    throw new PatchfleetError('sandbox_died', engineProblem(thrown), { cause: thrown });
  }
}

/** Looks, ms apart: the engine notes the end of a container a moment after that of what ran in it. */
const lastLooks = [0, 100, 300, 600];

async function requireAlive(container: Docker.Container, signal: AbortSignal): Promise<void> {
  let about = await container.inspect();
  for (const wait of lastLooks) {
    if (!about.State.Running) break;
    await delay(wait, undefined, { signal });
    about = await container.inspect();
  }
  if (about.State.Running) return;
  if (endedForMemory(about.State)) throw exhausted(about);
  const why = `it ended with exit code ${about.State.ExitCode}`;
  throw new PatchfleetError('sandbox_died', `the container ended while a check ran: ${why}`);
}

/** Fails where something in the container was killed for want of memory since it began. */
async function requireMemory(
  engine: Engine,
  containerId: string,
  { argv, signal }: EngineRun,
): Promise<void> {
  const state = await readMemoryState(engine, containerId, signal);
  if (state === null || (state.oomKills ?? 0) === 0) return;
  const { limitBytes, highestBytes } = state;
  if (!cameToLimit(state))
    throw new PatchfleetError(
      'sandbox_died',
      'the machine, not the sandbox, ran out of memory while a check ran',
    );
  throw memoryExhausted(`a check ran out of memory: ${argv.join(' ').slice(0, 200)}`, {
    limitBytes,
    peakBytes: highestBytes ?? limitBytes,
  });
}

function exhausted({ HostConfig: { Memory: memory } }: Docker.ContainerInspectInfo): PatchfleetError {
  const limitBytes = memory ?? null;
  return memoryExhausted('the sandbox ran out of memory while a check ran', {
    limitBytes,
    peakBytes: limitBytes,
  });
}

/** The most memory that was in use at any look. */
function watchPeak(container: Docker.Container): {
  readonly look: () => void;
  readonly end: () => Promise<number | null>;
} {
  let peak: number | null = null;
  let looking: Promise<void> | null = null;
  const look = () => {
    // One at a time: a busy engine takes longer than the time between looks.
    looking ??= usedMemory(container).then((used) => {
      if (used !== null) peak = Math.max(peak ?? 0, used);
      looking = null;
    });
  };
  look();
  return {
    look,
    end: async () => {
      await looking;
      return peak;
    },
  };
}

/** The exit code, once the engine has it; null: it has none, as of a command whose container was killed under it. */
async function ended(
  exec: Docker.Exec,
  read: Promise<void>,
  limitMs: number,
  signal: AbortSignal,
  onLook: () => void,
): Promise<number | null> {
  const over = read.then(() => true);
  let waitMs = firstLookMs;
  let closedMs = noteMs;
  for (const limit = performance.now() + limitMs; ; waitMs = Math.min(2 * waitMs, lookMs)) {
    const closed = await Promise.race([over, delay(waitMs, false, { signal })]);
    const { Running: running, ExitCode: code } = await exec.inspect();
    if (!running) return code;
    onLook();
    // The engine closes the output a moment before it notes the end; so does a program that wants no output.
    if (closed) await delay(closedMs, undefined, { signal });
    if (closed) closedMs = Math.min(2 * closedMs, lookMs);
    if (performance.now() > limit)
      throw new PatchfleetError('sandbox_died', 'a check could not be killed at its limit');
  }
}

/** Waits for what was said last, which may still be on its way, or come faster than it is read. */
async function saidWhole(read: Promise<void>, parts: () => number, signal: AbortSignal): Promise<void> {
  const over = read.then(() => true);
  for (let rests = 0, before = -1; rests < mostRests && before !== parts(); rests += 1) {
    before = parts();
    if (await Promise.race([over, delay(lookMs, false, { signal })])) return;
    // Where this process stood still, its timers come before what it can read meanwhile.
    await turn();
  }
}

function result(
  exitCode: number,
  stdout: ReturnType<typeof createHeadTail>,
  stderr: ReturnType<typeof createHeadTail>,
  durationMs: number,
  wallMs: number,
): Omit<RunResult, 'peakMemoryBytes' | 'outOfMemory'> {
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
