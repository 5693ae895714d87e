import { relocate } from '../domain/anchor.ts';
import { type FileChange, splitLines } from '../domain/change.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { type Finding, fingerprint } from '../domain/finding.ts';
import type { Sandbox } from '../sandbox/port.ts';
import { cleanText, oneLine } from './clean-text.ts';
import type { ToolArguments } from './tool-definitions.ts';

/** The findings of one attempt: each is held against the files when it is made. */
export interface FindingCollector {
  /** Records a finding, or says why not: in words for the model. */
  report(reported: ToolArguments<'report_finding'>): string;
  readonly findings: readonly Finding[];
  readonly refused: number;
}

/**
 * Text of the files under review as they are before the agent does anything: a command of its own may change
 * them later. A file that cannot be read whole is known by its diff alone (null).
 */
export async function readFilesUnderReview(
  changes: readonly FileChange[],
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<Map<string, readonly string[] | null>> {
  const files = new Map<string, readonly string[] | null>();
  for (const change of changes) {
    if (change.status === 'deleted' || change.binary || !isRegular(change)) {
      files.set(change.path, change.status === 'deleted' ? [] : null);
      continue;
    }
    files.set(change.path, await readWhole(change.path, sandbox, signal));
  }
  return files;
}

async function readWhole(path: string, sandbox: Sandbox, signal: AbortSignal): Promise<string[] | null> {
  try {
    const { text, truncated } = await sandbox.read(path, { signal });
    return truncated ? null : splitLines(text);
  } catch (error) {
    signal.throwIfAborted();
    // The sandbox is gone; anything else (no text, too large) concerns this file alone.
    if (error instanceof PatchfleetError) throw error;
    return null;
  }
}

/** Neither a symbolic link nor a submodule. */
export function isRegular(change: FileChange): boolean {
  return change.newMode.startsWith('100');
}

export function createFindingCollector(
  changes: readonly FileChange[],
  files: ReadonlyMap<string, readonly string[] | null>,
): FindingCollector {
  const findings = new Map<string, Finding>();
  let refused = 0;
  const refuse = (reason: string) => {
    refused += 1;
    return `refused: ${reason}`;
  };

  return {
    report(reported) {
      const path = reported.path.replace(/^\.\//, '');
      const change = changes.find((candidate) => candidate.path === path);
      if (change === undefined) {
        const inputs = changes.map((candidate) => JSON.stringify(candidate.path)).join(', ');
        return refuse(`${JSON.stringify(path)} is not one of your inputs: ${inputs}`);
      }
      const stated = toFinding(path, reported);
      if (stated.quote.includes('\0')) return refuse('the quote has a NUL character');
      if (stated.endLine < stated.startLine) return refuse('end_line is before start_line');
      const relocation = relocate(stated, change, files.get(path) ?? null);
      if ('refused' in relocation) return refuse(relocation.refused);
      const { finding } = relocation;
      const key = fingerprint(finding);
      if (findings.has(key)) return 'this finding was reported before; it is kept once';
      findings.set(key, finding);
      const place =
        finding.startLine === finding.endLine
          ? `line ${finding.startLine}`
          : `lines ${finding.startLine}-${finding.endLine}`;
      return finding.startLine === stated.startLine && finding.endLine === stated.endLine
        ? `recorded at ${place}`
        : `recorded at ${place}, where the quoted text is`;
    },
    get findings() {
      return [...findings.values()];
    },
    get refused() {
      return refused;
    },
  };
}

function toFinding(path: string, reported: ToolArguments<'report_finding'>): Finding {
  const replacement = reported.replacement ?? null;
  return {
    path,
    side: reported.side ?? 'RIGHT',
    startLine: reported.start_line,
    endLine: reported.end_line ?? reported.start_line,
    severity: reported.severity,
    confidence: reported.confidence ?? 0.8,
    rule: oneLine(reported.rule, 100) || 'finding',
    title: oneLine(reported.title, 300) || 'Finding',
    body: cleanText(reported.body ?? ''),
    quote: reported.quote,
    // Nothing can be suggested for a line that is gone. A final newline would add an empty line.
    replacement:
      reported.side === 'LEFT' || replacement === null ? null : cleanText(replacement).replace(/\r?\n$/, ''),
  };
}
