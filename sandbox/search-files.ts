import { spawn } from 'node:child_process';
import { lstat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { lookupLimitMs, type SearchRequest } from './protocol.ts';
import { pathError, RequestError, workspacePath } from './workspace-path.ts';

/** Characters of a matching line that are kept. */
const lineCharacters = 1000;

interface Match {
  path: string;
  line: number;
  text: string;
}

/**
 * Matches of a pattern, in the order of path and line. Hidden and git-ignored files are searched too (a file
 * can be tracked and ignored); `.git` and binary files are not.
 */
export async function searchFiles(workspace: string, request: SearchRequest, signal: AbortSignal) {
  const place = workspacePath(workspace, request.path);
  await lstat(place).catch((thrown: unknown) => {
    throw pathError(request.path, thrown);
  });
  const child = spawn(
    'rg',
    [
      '--json',
      '--no-config',
      '--no-ignore',
      '--hidden',
      '--glob=!**/.git/**',
      '--max-filesize=4M',
      '--sort=path',
      `--regexp=${request.pattern}`,
      '--',
      request.path || '.',
    ],
    {
      cwd: workspace,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: lookupLimitMs,
      killSignal: 'SIGKILL',
      signal,
    },
  );
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code));
  });
  ended.catch(() => {});
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < 2000) complaint += text;
  });

  const matches: Match[] = [];
  let truncated = false;
  for await (const line of createInterface({ input: child.stdout })) {
    if (truncated) continue;
    const match = parseMatch(line);
    if (match === null) continue;
    if (matches.length < request.limit) {
      matches.push(match);
    } else {
      truncated = true;
      child.kill('SIGKILL');
    }
  }
  const code = await ended;
  if (code === null) truncated = true;
  // 2 is an error, which may concern single files only: then there are matches all the same.
  if (code === 2 && matches.length === 0)
    throw new RequestError(complaint.slice(0, 2000).trim() || 'search failed');
  return { matches, truncated };
}

interface RgEvent {
  readonly type: string;
  readonly data: { path?: RgText; lines?: RgText; line_number?: number | null };
}

function parseMatch(line: string): Match | null {
  let event: RgEvent;
  try {
    event = JSON.parse(line) as RgEvent;
  } catch {
    // The last line of a search that was killed at its time limit.
    return null;
  }
  if (event.type !== 'match') return null;
  const { path, lines, line_number } = event.data;
  return {
    path: textOf(path).replace(/^\.\//, ''),
    line: line_number ?? 0,
    text: textOf(lines)
      .replace(/\r?\n$/, '')
      .slice(0, lineCharacters),
  };
}

type RgText = { text: string } | { bytes: string };

/** ripgrep gives base64 for what is not UTF-8. */
function textOf(value: RgText | undefined): string {
  if (value === undefined) return '';
  return 'text' in value ? value.text : Buffer.from(value.bytes, 'base64').toString('utf8');
}
