import { z } from 'zod';
import { PatchfleetError } from '../domain/failure.ts';
import type { RunResult, Sandbox } from '../sandbox/port.ts';
import { adviseCommand } from './advise-command.ts';
import { aliveByCpu } from './alive-by-cpu.ts';
import { shortenOutput } from './shorten-output.ts';
import type { ValidCall } from './tool-set.ts';

/** The tools of every agent that looks at a workspace. Models like to send null for what they leave out. */

const defaultLines = 400;
const listLimit = 500;
const searchLimit = 100;
const commandBuffer = 64 * 1024;

export const pathSchema = z.string().describe('Path relative to the repository root, e.g. `src/index.ts`.');
const line = z.int().min(1);

export const readingSchemas = {
  list_files: z.object({
    path: z.string().nullish().describe('Directory relative to the repository root; empty: the root.'),
  }),
  read_file: z.object({
    path: pathSchema,
    start_line: line.nullish().describe('First line, counted from 1. Default 1.'),
    end_line: line.nullish().describe('Last line, inclusive. Default: 400 lines from the first.'),
  }),
  search: z.object({
    pattern: z.string().min(1).max(1000).describe('Regular expression (Rust syntax), matched line by line.'),
    path: z.string().nullish().describe('File or directory to search; empty: everything.'),
  }),
} as const;

export const readingDescriptions = {
  list_files: 'Lists a directory.',
  read_file: 'Reads lines of a text file, with their numbers.',
  search: 'Searches files for a regular expression.',
};

/** `seconds`: the wall-clock limit that the model is told; the same is given to {@link runWorkspaceTool}. */
export function runCommandSchema(seconds: number) {
  return z.object({
    argv: z
      .array(z.string().max(10_000))
      .min(1)
      .max(200)
      .describe(`Program and arguments; there is no shell. Ends after ${seconds} seconds. No network.`),
    cwd: z.string().nullish().describe('Directory relative to the repository root; empty: the root.'),
  });
}

export const runCommandDescription = 'Runs a program in the sandbox and gives its exit code and output.';

export interface WorkspaceContext {
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
  readonly onProgress: () => void;
  /** Without a sign of life for as long, the attempt ends. */
  readonly idleMs: number;
  /** Wall-clock limit of a command. */
  readonly commandSeconds: number;
}

type WorkspaceCall = ValidCall<typeof readingSchemas & { run_command: ReturnType<typeof runCommandSchema> }>;

export async function runWorkspaceTool(call: WorkspaceCall, context: WorkspaceContext): Promise<string> {
  const { sandbox, signal } = context;
  switch (call.name) {
    case 'list_files':
      return listFiles(call.arguments, sandbox, signal);
    case 'read_file':
      return readFile(call.arguments, sandbox, signal);
    case 'search':
      return search(call.arguments, sandbox, signal);
    case 'run_command':
      return aliveByCpu(runCommand(call.arguments, context), sandbox, context.idleMs, context.onProgress);
  }
}

/**
 * The text for the model of what a tool does. What the model can mend (no such file, a bad pattern) comes back as
 * text; a sandbox that is gone, or an abort, is thrown.
 */
export async function answerOf(work: () => Promise<string>, signal: AbortSignal): Promise<string> {
  try {
    return shortenOutput(await work());
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof PatchfleetError) throw error;
    return `error: ${shortenOutput(error instanceof Error ? error.message : String(error), 2000)}`;
  }
}

type Arguments<Name extends WorkspaceCall['name']> = Extract<WorkspaceCall, { name: Name }>['arguments'];

async function listFiles(wanted: Arguments<'list_files'>, sandbox: Sandbox, signal: AbortSignal) {
  const entries = await sandbox.list(insideWorkspace(wanted.path ?? ''), { signal, limit: listLimit });
  const lines = entries.map(({ name, type, bytes }) => {
    if (type === 'directory') return `${name}/`;
    return type === 'file' ? `${name} (${bytes} bytes)` : `${name} (${type})`;
  });
  if (lines.length === 0) return '(empty)';
  if (entries.length >= listLimit) lines.push(`[only the first ${listLimit} entries are shown]`);
  return lines.join('\n');
}

async function readFile(wanted: Arguments<'read_file'>, sandbox: Sandbox, signal: AbortSignal) {
  const start = wanted.start_line ?? 1;
  const end = wanted.end_line ?? start + defaultLines - 1;
  if (end < start) return 'error: end_line is before start_line';
  const result = await sandbox.read(insideWorkspace(wanted.path), { signal, start, end });
  const lines = result.text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const numbered = lines.map((text, index) => `${String(result.start + index).padStart(6)}|${text}`);
  const last = result.start + lines.length - 1;
  if (lines.length === 0) return `(no such lines: the file has ${result.totalLines})`;
  if (last < result.totalLines) numbered.push(`[lines ${result.start}-${last} of ${result.totalLines}]`);
  return numbered.join('\n');
}

async function search(wanted: Arguments<'search'>, sandbox: Sandbox, signal: AbortSignal) {
  const path = insideWorkspace(wanted.path ?? '');
  const result = await sandbox.search(wanted.pattern, {
    signal,
    limit: searchLimit,
    ...(path !== '' && { path }),
  });
  if (result.matches.length === 0) return '(no match)';
  const lines = result.matches.map((match) => `${match.path}:${match.line}: ${match.text}`);
  if (result.truncated) lines.push('[there are more matches]');
  return lines.join('\n');
}

async function runCommand(
  wanted: Arguments<'run_command'>,
  { sandbox, signal, commandSeconds }: WorkspaceContext,
) {
  const cwd = insideWorkspace(wanted.cwd ?? '');
  const advice = adviseCommand(wanted.argv, { online: sandbox.online ?? false });
  if (advice !== null) return `error: not run: ${advice}`;
  const result = await sandbox.run(wanted.argv, {
    signal,
    wallMs: commandSeconds * 1000,
    maxBuffer: commandBuffer,
    ...(cwd !== '' && { cwd }),
  });
  signal.throwIfAborted();
  if (result.spawnError !== null) return `error: it could not be started: ${result.spawnError}`;
  const ended = result.timedOut
    ? `ended after ${commandSeconds} s`
    : result.signal === null
      ? `exit code ${result.exitCode}`
      : `ended by ${result.signal}`;
  const parts = [ended];
  if (result.outOfMemory) parts.push(`[out of memory: ${ranOut(result)}]`);
  if (result.stdout !== '') parts.push(`stdout:\n${shortenOutput(result.stdout, 8000)}`);
  if (result.stderr !== '') parts.push(`stderr:\n${shortenOutput(result.stderr, 6000)}`);
  return parts.join('\n');
}

/** What the model can do about it: it cannot be given more within this attempt. */
function ranOut({ peakMemoryBytes }: RunResult): string {
  const limit = peakMemoryBytes === null ? '' : ` of ${Math.round(peakMemoryBytes / 1024 / 1024)} MiB`;
  return `the sandbox used up its memory${limit} and the kernel killed a process. Run less at once: one test file instead of all, fewer workers, a smaller heap.`;
}

/** The sandbox refuses such paths too; here the model is told in the same words whatever the sandbox is. */
export function insideWorkspace(path: string): string {
  const relative = path.replace(/^(?:\.\/)+/, '').replace(/^\.$/, '');
  if (relative.startsWith('/')) throw new Error('the path must be relative to the repository root');
  if (relative.split('/').includes('..')) throw new Error('the path must not contain ".."');
  if (relative.includes('\0')) throw new Error('the path must not contain a NUL character');
  return relative;
}
