import { createContext, Script } from 'node:vm';
import { PatchfleetError } from '../domain/failure.ts';
import type { Severity } from '../domain/finding.ts';
import { type RawResult, relativePath } from './raw-result.ts';

/** Characters of a line that are matched; longer ones are no findings. */
const lineCharacters = 4000;
/** All lines of an output must be matched within this time, milliseconds; nothing else runs meanwhile. */
const matchMs = 2000;

/** Words that tools use for a severity, lower case. */
const severityWords: Readonly<Record<string, Severity>> = {
  error: 'error',
  err: 'error',
  e: 'error',
  fatal: 'error',
  critical: 'error',
  high: 'error',
  warning: 'warning',
  warn: 'warning',
  w: 'warning',
  medium: 'warning',
  note: 'note',
  info: 'note',
  information: 'note',
  i: 'note',
  hint: 'note',
  low: 'note',
  style: 'note',
  refactor: 'note',
  convention: 'note',
};

/**
 * Findings of an output with one a line. `pattern` is a regular expression with the groups `path`, `line`,
 * `message` and, if any, `endLine`, `severity` and `rule`; lines that do not match are no findings (banners,
 * totals) and are counted. Fails with `config_invalid` for a pattern that is none or lacks a group, and with
 * `output_invalid` when matching takes too long.
 */
export function parseLines(
  text: string,
  pattern: string,
  options: { workspace: string; defaultRule: string },
): { results: RawResult[]; unmatched: number } {
  checkPattern(pattern);
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && line.length <= lineCharacters);
  const matches = matchAll(lines, pattern);
  const results: RawResult[] = [];
  for (const groups of matches) {
    const startLine = Number(groups?.['line']);
    const path = groups?.['path'];
    if (groups === null || path === undefined || !Number.isSafeInteger(startLine) || startLine < 1) continue;
    const endLine = Number(groups['endLine'] ?? startLine);
    results.push({
      path: relativePath(path, options.workspace),
      startLine,
      endLine: Number.isSafeInteger(endLine) && endLine >= startLine ? endLine : startLine,
      severity: severityWords[(groups['severity'] ?? 'warning').toLowerCase()] ?? 'warning',
      rule: groups['rule'] || options.defaultRule,
      message: groups['message']?.trim() || 'a problem without a message',
      fix: null,
    });
  }
  return { results, unmatched: lines.length - results.length };
}

function checkPattern(pattern: string): void {
  try {
    new RegExp(pattern);
  } catch (error) {
    throw new PatchfleetError(
      'config_invalid',
      `\`pattern\`: ${error instanceof Error ? error.message : error}`,
    );
  }
  const missing = ['path', 'line', 'message'].filter((group) => !pattern.includes(`(?<${group}>`));
  if (missing.length > 0) {
    throw new PatchfleetError('config_invalid', `\`pattern\` lacks the group ${missing.join(', ')}`);
  }
}

/**
 * Pattern and output both come from a repository: some pairs take a matcher for ever, and only a context of
 * its own can be stopped. Nothing but text goes in and comes out.
 */
function matchAll(lines: readonly string[], pattern: string): (Record<string, string | undefined> | null)[] {
  const input = JSON.stringify({ lines, pattern });
  try {
    const output: unknown = matcher.runInContext(
      createContext(Object.assign(Object.create(null), { input })),
      { timeout: matchMs },
    );
    return JSON.parse(String(output));
  } catch (error) {
    if (isTimeout(error)) {
      throw new PatchfleetError(
        'output_invalid',
        `\`pattern\` took longer than ${matchMs / 1000} s to match`,
      );
    }
    throw error;
  }
}

/** The error belongs to the other context: it is no instance of our Error. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

const matcher = new Script(`{
  const { lines, pattern } = JSON.parse(input);
  const expression = new RegExp(pattern);
  JSON.stringify(lines.map((line) => expression.exec(line)?.groups ?? null));
}`);
