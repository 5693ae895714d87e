import type { Assignment } from '../../../src/agents/port.ts';
import type { DiffLine, FileChange } from '../../../src/domain/change.ts';
import type { RowLimits } from '../../../src/domain/matrix.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';

/**
 * A change of one hunk, and the file as it is after it. `marked` are the hunk's lines, each after a sign (space,
 * `+` or `-`); the hunk begins at `start`, and numbered lines of filler lie before and after it.
 */
export function sampleChange(
  path: string,
  marked: readonly string[],
  start = 1,
): { change: FileChange; text: string } {
  let oldLine = start;
  let newLine = start;
  const lines = marked.map((line): DiffLine => {
    const text = line.slice(1);
    if (line.startsWith('+')) return { kind: 'added', text, oldLine: null, newLine: newLine++ };
    if (line.startsWith('-')) return { kind: 'deleted', text, oldLine: oldLine++, newLine: null };
    return { kind: 'context', text, oldLine: oldLine++, newLine: newLine++ };
  });
  const after = lines.filter((line) => line.kind !== 'deleted').map((line) => line.text);
  const filler = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) => `// filler ${from + index}`);
  const text = [...filler(start - 1, 1), ...after, ...filler(5, newLine)].map((line) => `${line}\n`).join('');
  const change: FileChange = {
    path,
    oldPath: null,
    status: 'modified',
    oldMode: '100644',
    newMode: '100644',
    oldBlob: 'a'.repeat(40),
    newBlob: 'b'.repeat(40),
    binary: false,
    additions: lines.filter((line) => line.kind === 'added').length,
    deletions: lines.filter((line) => line.kind === 'deleted').length,
    hunks: [
      { oldStart: start, oldLines: oldLine - start, newStart: start, newLines: newLine - start, lines },
    ],
  };
  return { change, text };
}

export function deletedFile(path: string): FileChange {
  const lines: DiffLine[] = [{ kind: 'deleted', text: 'gone', oldLine: 1, newLine: null }];
  return {
    ...sampleChange(path, []).change,
    status: 'deleted',
    newMode: '000000',
    newBlob: '0'.repeat(40),
    deletions: 1,
    hunks: [{ oldStart: 1, oldLines: 1, newStart: 0, newLines: 0, lines }],
  };
}

/** An assignment over changes, with what the agent logged. */
export function sampleAssignment(
  changes: readonly FileChange[],
  sandbox: Sandbox,
  options: { signal?: AbortSignal; limits?: Partial<RowLimits>; contract?: string } = {},
): Assignment & { readonly log: string[] } {
  const log: string[] = [];
  return {
    taskId: 'task-1',
    subtaskId: 'subtask-1',
    attemptId: 'attempt-1',
    row: {
      goal: 'Review the change.',
      background: 'Pull request #1: a title',
      inputs: changes.map((change) => change.path),
      writes: [],
      output: 'Findings.',
      constraints: ['Report only what the change brings in.'],
      verification: 'Quotes are held against the files.',
      limits: { wallMs: 20_000, idleMs: 20_000, turns: 10, tokens: 1_000_000, ...options.limits },
    },
    contract: options.contract ?? '',
    changes,
    sandbox,
    keeper: { resume: async () => [], keep: async () => {} },
    signal: options.signal ?? new AbortController().signal,
    onProgress: () => {},
    onLog: (line) => log.push(line),
    log,
  };
}
