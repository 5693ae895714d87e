import { PatchfleetError } from '../domain/failure.ts';
import type { Sandbox } from '../sandbox/port.ts';
import type { FindingCollector } from './collect-findings.ts';
import { keepAlive } from './keep-alive.ts';
import { shortenOutput } from './shorten-output.ts';
import type { ParsedCall, ToolArguments } from './tool-definitions.ts';

const defaultLines = 400;
const listLimit = 500;
const searchLimit = 100;
const commandWallMs = 60_000;
const commandBuffer = 64 * 1024;

export interface ToolContext {
  readonly sandbox: Sandbox;
  readonly collector: FindingCollector;
  readonly signal: AbortSignal;
  readonly onProgress: () => void;
}

type RunnableCall = Exclude<ParsedCall, { name: null } | { name: 'finish' }>;

/**
 * Does what a valid tool call asks and gives the text for the model. What the model can mend (no such file, a
 * bad pattern) comes back as text; a sandbox that is gone, or an abort, is thrown.
 */
export async function runTool(call: RunnableCall, context: ToolContext): Promise<string> {
  try {
    return shortenOutput(await dispatch(call, context));
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof PatchfleetError) throw error;
    return `error: ${shortenOutput(error instanceof Error ? error.message : String(error), 2000)}`;
  }
}

async function dispatch(
  call: RunnableCall,
  { sandbox, collector, signal, onProgress }: ToolContext,
): Promise<string> {
  switch (call.name) {
    case 'report_finding':
      return collector.report(call.arguments);
    case 'list_files':
      return listFiles(call.arguments, sandbox, signal);
    case 'read_file':
      return readFile(call.arguments, sandbox, signal);
    case 'search':
      return search(call.arguments, sandbox, signal);
    case 'run_command':
      return keepAlive(runCommand(call.arguments, sandbox, signal), onProgress);
  }
}

async function listFiles(wanted: ToolArguments<'list_files'>, sandbox: Sandbox, signal: AbortSignal) {
  const entries = await sandbox.list(insideWorkspace(wanted.path ?? ''), { signal, limit: listLimit });
  const lines = entries.map(({ name, type, bytes }) => {
    if (type === 'directory') return `${name}/`;
    return type === 'file' ? `${name} (${bytes} bytes)` : `${name} (${type})`;
  });
  if (lines.length === 0) return '(empty)';
  if (entries.length >= listLimit) lines.push(`[only the first ${listLimit} entries are shown]`);
  return lines.join('\n');
}

async function readFile(wanted: ToolArguments<'read_file'>, sandbox: Sandbox, signal: AbortSignal) {
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

async function search(wanted: ToolArguments<'search'>, sandbox: Sandbox, signal: AbortSignal) {
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

async function runCommand(wanted: ToolArguments<'run_command'>, sandbox: Sandbox, signal: AbortSignal) {
  const cwd = insideWorkspace(wanted.cwd ?? '');
  const result = await sandbox.run(wanted.argv, {
    signal,
    wallMs: commandWallMs,
    maxBuffer: commandBuffer,
    ...(cwd !== '' && { cwd }),
  });
  signal.throwIfAborted();
  if (result.spawnError !== null) return `error: it could not be started: ${result.spawnError}`;
  const ended = result.timedOut
    ? `ended after ${commandWallMs / 1000} s`
    : result.signal === null
      ? `exit code ${result.exitCode}`
      : `ended by ${result.signal}`;
  const parts = [ended];
  if (result.stdout !== '') parts.push(`stdout:\n${shortenOutput(result.stdout, 8000)}`);
  if (result.stderr !== '') parts.push(`stderr:\n${shortenOutput(result.stderr, 6000)}`);
  return parts.join('\n');
}

/** The sandbox refuses such paths too; here the model is told in the same words whatever the sandbox is. */
function insideWorkspace(path: string): string {
  const relative = path.replace(/^(?:\.\/)+/, '').replace(/^\.$/, '');
  if (relative.startsWith('/')) throw new Error('the path must be relative to the repository root');
  if (relative.split('/').includes('..')) throw new Error('the path must not contain ".."');
  if (relative.includes('\0')) throw new Error('the path must not contain a NUL character');
  return relative;
}
