import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createHeadTail } from './head-tail.ts';
import { areGone, killRun, runMarker } from './process-tree.ts';
import { greatestMaxBuffer, type RunRequest } from './protocol.ts';
import { type MemoryUse, watchMemory } from './watch-memory.ts';
import { pathError, workspacePath } from './workspace-path.ts';

/** After the program ended, its pipes get this long to run dry before what holds them open is killed. */
const drainMs = 500;
/** What was killed may take so long to be gone: it has memory and a place among the processes until then. */
const goneMs = 3000;

/**
 * What a run is behind the tool server in the turn for the CPU: else a hundred busy processes leave it a hundredth,
 * and a question waits for seconds (measured: 0.3 to 28 s, and 1 to 50 ms with this, for 0.5 ms of CPU a run). Only
 * within the container; to the rest of the machine it makes no difference.
 */
const niceness = 19;
const nice = ['/usr/bin/nice', '/bin/nice'].find((path) => existsSync(path));

/** Runs that have not ended, by id, with the process each began with. */
const live = new Map<string, number>();

/** Shaped after execa's results. */
export interface RunOutcome extends MemoryUse {
  exitCode: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  isCanceled: boolean;
  isMaxBuffer: boolean;
  spawnError: string | null;
  durationMs: number;
}

/**
 * Runs a program, without a shell, as the leader of a session of its own. It ends by itself, or is killed at
 * its wall limit, after its idle limit without output, or when `signal` aborts; what it started ends with it.
 * `alone`: no process but init, this one and its runs has a right to be here.
 */
export async function runCommand(
  place: { readonly workspace: string; readonly alone: boolean },
  request: RunRequest,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const began = performance.now();
  const cwd = workspacePath(place.workspace, request.cwd);
  const limit = Math.min(request.maxBuffer, greatestMaxBuffer);
  const stdout = createHeadTail(limit);
  const stderr = createHeadTail(limit);
  const run = randomUUID();
  let timedOut = false;
  let isCanceled = false;
  let ended: { code: number | null; signal: string | null } = { code: null, signal: null };
  // Elsewhere it would be the memory of a whole machine.
  const memory = place.alone ? watchMemory() : () => ({ peakMemoryBytes: null, outOfMemory: false });

  const outcome = (spawnError: string | null): RunOutcome => ({
    exitCode: ended.code,
    signal: ended.signal,
    stdout: stdout.text(),
    stderr: stderr.text(),
    timedOut,
    isCanceled,
    isMaxBuffer: stdout.truncated || stderr.truncated,
    spawnError,
    durationMs: Math.round(performance.now() - began),
    ...memory(),
  });

  const misfit = unfitDirectory(cwd, request.cwd);
  if (misfit !== null) return outcome(misfit);
  const child = await start(request, cwd, run);
  if (typeof child === 'string') return outcome(child);
  const root = child.pid;
  if (root === undefined) return outcome('the program has no process id');

  live.set(run, root);
  let killed: ReadonlySet<number> = new Set();
  const kill = (over: boolean) => {
    live.delete(run);
    killed = killed.union(killRun(root, run, { alone: place.alone, live, ended: over }));
  };
  const overdue = () => {
    timedOut = true;
    kill(false);
  };
  const cancelled = () => {
    isCanceled = true;
    kill(false);
  };
  const wall = setTimeout(overdue, request.wallMs);
  const idle = request.idleMs === null ? null : setTimeout(overdue, request.idleMs);
  signal.addEventListener('abort', cancelled, { once: true });
  if (signal.aborted) cancelled();

  child.stdout?.on('data', (chunk: Buffer) => {
    stdout.push(chunk);
    idle?.refresh();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr.push(chunk);
    idle?.refresh();
  });
  // A program that does not read its input breaks the pipe; that is its own affair.
  child.stdin?.on('error', () => {});
  child.stdin?.end(request.stdin);

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  ended = await new Promise((resolve) => {
    child.once('exit', (code, name) => resolve({ code, signal: name }));
  });
  clearTimeout(wall);
  if (idle !== null) clearTimeout(idle);
  signal.removeEventListener('abort', cancelled);
  await within(closed, drainMs);
  kill(true);
  if (!(await within(closed, drainMs))) {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
  for (const limit = performance.now() + goneMs; !areGone(killed) && performance.now() < limit; )
    await new Promise((resolve) => setTimeout(resolve, 10));
  const result = outcome(null);
  const unstarted = whyNotStarted(result, request.argv[0] ?? '');
  return unstarted === null ? result : { ...result, exitCode: null, stderr: '', spawnError: unstarted };
}

/** As node would say it, where `nice` could not start the program; null: it could. */
function whyNotStarted({ exitCode, stderr }: RunOutcome, program: string): string | null {
  if ((exitCode !== 126 && exitCode !== 127) || !/^(?:\/\S*)?nice: /.test(stderr)) return null;
  const code = exitCode === 127 ? 'ENOENT' : 'EACCES';
  return `spawn ${program} ${code}`;
}

function unfitDirectory(directory: string, asked: string): string | null {
  try {
    return statSync(directory).isDirectory() ? null : `${asked}: is not a directory`;
  } catch (thrown) {
    return pathError(asked, thrown).message;
  }
}

/** The child once it runs, or why it could not be started. */
async function start(request: RunRequest, cwd: string, run: string): Promise<ChildProcess | string> {
  const argv = nice === undefined ? request.argv : [nice, '-n', String(niceness), '--', ...request.argv];
  const [program = '', ...args] = argv;
  try {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...request.env, [runMarker]: run },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    // Later errors (a failed kill) are told by the exit.
    child.on('error', () => {});
    preferAsVictim(child.pid);
    return child;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** When memory runs out, the program should go, not the tool server: then the agent is told. */
function preferAsVictim(pid: number | undefined): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '1000');
  } catch {
    // Already gone, or not allowed; nothing is lost.
  }
}

/** Whether the promise settled in time. */
async function within(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const inTime = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
