import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

export const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** How long the command line may take to be ready and to stop, milliseconds. */
const readyLimitMs = 120_000;
const stopLimitMs = 90_000;
/** Of the test's own environment; everything else is given by name. */
export const inherited = ['PATH', 'HOME', 'TMPDIR', 'DOCKER_HOST', 'NODE_V8_COVERAGE'];

export type Role = 'all' | 'serve' | 'work';

export interface AppOptions {
  readonly role: Role;
  readonly dataDir: string;
  /** Environment variables of the app. */
  readonly env: Readonly<Record<string, string>>;
  /** The operator file. */
  readonly operatorConfig?: object;
  /** A program that takes the role as the command line does and says as much; default the command line. */
  readonly program?: string;
}

export interface App {
  readonly role: Role;
  readonly dataDir: string;
  /** Where it listens, without a final slash; empty for `work`. */
  readonly url: string;
  readonly pid: number;
  /** Everything it logged so far: JSON lines of standard error. */
  logs(): string;
  /** Null while it runs. */
  exitCode(): number | null;
  /** Resolves once it ended, by itself or not, with its code or the name of the signal. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** SIGTERM; resolves with the exit code. Fails when it does not stop in time; it is killed then. */
  stop(): Promise<number | NodeJS.Signals>;
  /** SIGKILL of the process, as a crash would. */
  kill(): Promise<void>;
}

/** The command line as a process, whether or not it is ready. */
export interface SpawnedApp {
  readonly child: ChildProcess;
  readonly pid: number;
  /** Resolves once it ended, by itself or not, with its code or the name of the signal. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Where it listens, without a final slash; empty for `work`. Null: it ended before it was ready. */
  readonly ready: Promise<string | null>;
}

/** Starts the real command line, or `program`. `stderr`: a file descriptor that its log goes to; default a pipe. */
export function spawnApp(options: {
  readonly role: Role;
  readonly env: Readonly<Record<string, string>>;
  readonly stderr?: number;
  readonly program?: string;
}): SpawnedApp {
  const child = spawn(process.execPath, [options.program ?? main, options.role], {
    cwd: root,
    stdio: ['ignore', 'pipe', options.stderr ?? 'pipe'],
    env: {
      ...Object.fromEntries(inherited.flatMap((name) => [[name, process.env[name]]])),
      PORT: '0',
      ...options.env,
    },
  });
  const exited = once(child, 'exit').then(([code, signal]) => (signal ?? code) as number | NodeJS.Signals);
  const listening = new Promise<string>((resolve) => {
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const line = /^(?:working|listening on (\S+))$/m.exec(output);
      if (line !== null) resolve(line[1] ?? '');
    });
  });
  const ready = Promise.race([listening, exited.then(() => null)]);
  return { child, pid: child.pid ?? 0, exited, ready };
}

/** Starts the real command line and waits until it says that it is ready. */
export async function startApp(options: AppOptions): Promise<App> {
  await mkdir(options.dataDir, { recursive: true, mode: 0o755 });
  const config = join(options.dataDir, 'patchfleet.yml');
  await writeFile(config, stringify(options.operatorConfig ?? {}));
  const env = { PATCHFLEET_CONFIG: config, PATCHFLEET_DATA: options.dataDir, ...options.env };
  const app = spawnApp({
    role: options.role,
    env,
    ...(options.program === undefined ? {} : { program: options.program }),
  });
  const { child, exited } = app;
  const log: string[] = [];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => log.push(text));
  const logs = () => log.join('');

  const url = await untilReady(app, logs);
  return {
    role: options.role,
    dataDir: options.dataDir,
    url,
    pid: app.pid,
    logs,
    exitCode: () => child.exitCode,
    exited,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      const ended = await within(stopLimitMs, exited);
      if (ended !== undefined) return ended;
      child.kill('SIGKILL');
      await exited;
      throw new Error(`the app did not stop within ${stopLimitMs / 1000} s; its log ends:\n${tail(logs())}`);
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The address of its ready line. */
async function untilReady({ child, ready }: SpawnedApp, logs: () => string): Promise<string> {
  const first = await within(readyLimitMs, ready);
  if (typeof first === 'string') return first;
  child.kill('SIGKILL');
  const what = first === null ? 'ended before it was ready' : `was not ready within ${readyLimitMs / 1000} s`;
  throw new Error(`the app ${what}; its log ends:\n${tail(logs())}`);
}

/** Undefined after `ms`. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise, delay(ms, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}

export function tail(text: string, lines = 30): string {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}
