import { execa } from 'execa';
import { type FailureCode, PatchfleetError } from '../domain/failure.ts';
import { limitGroup } from './run-git-limits.ts';

export interface GitOptions {
  /** The bare repository; left out for `init`. */
  readonly gitDir?: string;
  readonly signal?: AbortSignal;
  /** Wall-clock limit, milliseconds. */
  readonly timeoutMs?: number;
  /** Bytes of standard output; `failWith` beyond. */
  readonly maxBytes?: number;
  /** Code of the error when the output is larger than `maxBytes`. Default: `git_failed`. */
  readonly tooLarge?: FailureCode;
  readonly input?: string | Buffer;
  /** Exit codes that are answers rather than failures. Default: only 0. */
  readonly okCodes?: readonly number[];
  /** Sent with every HTTP request; handed over in the environment, never as an argument. */
  readonly httpHeader?: { readonly url: string; readonly value: string };
  /** Allows `file:` remotes: tests only. */
  readonly allowFile?: boolean;
  /** Further variables: an index of its own, an author. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
}

/** A failed git command: `git_failed` unless its caller knows better from `stderr`. */
export class GitError extends PatchfleetError {
  readonly stderr: string;

  constructor(code: FailureCode, detail: string, stderr: string) {
    super(code, detail);
    this.stderr = stderr;
  }
}

/** Settings that no repository and no machine can change. */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.attributesFile=/dev/null',
  'core.askPass=',
  'credential.helper=',
  // Git would send the header on to wherever it is led.
  'http.followRedirects=false',
  // A fetch whose worker was killed must not wait for a silent server for ever: 1 byte/s over 120 s.
  'http.lowSpeedLimit=1',
  'http.lowSpeedTime=120',
  'gc.auto=0',
  'maintenance.auto=false',
  'fetch.writeCommitGraph=false',
  'diff.renameLimit=1000',
  // A merge puts no file where neither side has put it (ADR 0017).
  'merge.directoryRenames=false',
  'diff.suppressBlankEmpty=false',
].flatMap((setting) => ['-c', setting]);

const passedOn = [
  'PATH',
  ...['http_proxy', 'https_proxy', 'no_proxy', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO'],
];

/**
 * Runs git with a closed environment: no configuration of the machine or the user, no hooks, no prompt, no
 * editor, no lazy fetch, HTTP(S) alone. Fails with `git_failed`, `cancelled` when `signal` aborts, or
 * `tooLarge`. The error's text holds git's last words with credentials taken out.
 */
export async function runGit(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  const command = args.find((arg) => /^[a-z]/.test(arg)) ?? 'git';
  const { maxBytes = 16 * 1024 * 1024, timeoutMs = 120_000 } = options;
  const gitDir = options.gitDir === undefined ? [] : [`--git-dir=${options.gitDir}`];
  if (options.signal?.aborted) throw new GitError('cancelled', `git ${command} was not started`, '');
  const child = execa('git', [...gitDir, ...settings, ...args], {
    env: environment(options),
    extendEnv: false,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    encoding: 'buffer',
    stripFinalNewline: false,
    reject: false,
    maxBuffer: { stdout: maxBytes, stderr: 64 * 1024 },
    // A process group of its own, so that its helpers can be ended with it.
    detached: true,
  });
  const limits = limitGroup(child.pid, timeoutMs, options.signal);
  const result = await child.finally(limits.release);
  const stdout = Buffer.from(result.stdout.buffer, result.stdout.byteOffset, result.stdout.byteLength);
  const cut = result.isMaxBuffer || limits.why() !== null;
  if (!cut && result.exitCode !== undefined && (options.okCodes ?? [0]).includes(result.exitCode)) {
    return { exitCode: result.exitCode, stdout };
  }
  const stderr = clean(Buffer.from(result.stderr).toString('utf8'), options.httpHeader?.value);
  if (limits.why() === 'cancelled') throw new GitError('cancelled', `git ${command} was stopped`, stderr);
  if (limits.why() === 'timeout') {
    throw new GitError('git_failed', `git ${command} took more than ${timeoutMs} ms`, stderr);
  }
  if (result.isMaxBuffer && stdout.length >= maxBytes) {
    const detail = `git ${command} wrote more than ${maxBytes} bytes`;
    throw new GitError(options.tooLarge ?? 'git_failed', detail, stderr);
  }
  const how = result.exitCode === undefined ? (result.code ?? 'was killed') : `exit code ${result.exitCode}`;
  throw new GitError('git_failed', `git ${command}: ${how}: ${stderr.trim().slice(-2000)}`, stderr);
}

function environment(options: GitOptions): Record<string, string> {
  const env: Record<string, string> = {
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_ALLOW_PROTOCOL: options.allowFile === true ? 'http:https:file' : 'http:https',
    GIT_PROTOCOL: 'version=2',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_OPTIONAL_LOCKS: '0',
    ...options.env,
  };
  for (const name of passedOn) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  if (options.httpHeader !== undefined) {
    env['GIT_CONFIG_COUNT'] = '1';
    // Bound to the server, so that the header goes nowhere else.
    env['GIT_CONFIG_KEY_0'] = `http.${options.httpHeader.url}.extraHeader`;
    env['GIT_CONFIG_VALUE_0'] = options.httpHeader.value;
  }
  return env;
}

function clean(stderr: string, header: string | undefined): string {
  const withoutUrls = stderr.replace(/(\/\/)[^@/\s]+@/g, '$1***@');
  const secret = header?.split(' ').at(-1);
  return secret === undefined || secret === '' ? withoutUrls : withoutUrls.replaceAll(secret, '***');
}
