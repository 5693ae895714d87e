import { isUtf8 } from 'node:buffer';
import type { ChangeSet, DiffLine, FileChange, Hunk, SkippedFile } from './change.ts';
import { parseRaw, type RawEntry, unreadable } from './parse-raw.ts';

/**
 * Reads the output of `git diff --raw --patch -z --full-index`. The raw records say what changed (their
 * paths are exact bytes); the patch is walked beside them in the same order and only gives the hunks, so no
 * path is ever taken from a quoted header. Hunk lines are counted off by the hunk's own header, so content
 * that looks like a diff is content.
 *
 * Submodules, paths and texts that are not UTF-8 come back as skipped. Binary files, mode-only changes and
 * pure renames are changes without hunks.
 */
export function parsePatch(output: Buffer): ChangeSet {
  const { entries, end } = parseRaw(output);
  const changes: FileChange[] = [];
  const skipped: SkippedFile[] = [];
  let at = end;
  for (const entry of entries) {
    const section = readEntry(output, at, entry);
    at = section.end;
    const reason = whySkipped(entry, section.notText);
    if (reason !== null) skipped.push({ path: displayPath(entry.path), reason });
    else changes.push(toChange(entry, section));
  }
  if (at !== output.length) throw unreadable('there is more patch than there are changed files');
  return { changes, skipped };
}

/** A path for people: itself where it is UTF-8, else with its odd bytes written `\xNN`. */
export function displayPath(path: Buffer): string {
  if (isUtf8(path)) return path.toString('utf8');
  return Array.from(path, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('');
}

interface Section {
  readonly hunks: Hunk[];
  readonly binary: boolean;
  readonly notText: boolean;
  readonly end: number;
}

function whySkipped(entry: RawEntry, notText: boolean): string | null {
  if (entry.oldMode === '160000' || entry.newMode === '160000') return 'submodule';
  if (!isUtf8(entry.path) || (entry.oldPath !== null && !isUtf8(entry.oldPath))) {
    return 'its name is not UTF-8';
  }
  return notText ? 'not UTF-8 text' : null;
}

function toChange(entry: RawEntry, section: Section): FileChange {
  const lines = section.hunks.flatMap((hunk) => hunk.lines);
  return {
    path: entry.path.toString('utf8'),
    oldPath: entry.oldPath?.toString('utf8') ?? null,
    status: entry.status,
    oldMode: entry.oldMode,
    newMode: entry.newMode,
    oldBlob: entry.oldBlob,
    newBlob: entry.newBlob,
    binary: section.binary,
    additions: lines.filter((line) => line.kind === 'added').length,
    deletions: lines.filter((line) => line.kind === 'deleted').length,
    hunks: section.hunks,
  };
}

/** Git writes a change of type (file to symlink) as a deletion followed by a creation. */
function readEntry(output: Buffer, start: number, entry: RawEntry): Section {
  const first = readSection(output, start);
  const kind = (mode: string) => mode.slice(0, 3);
  const exists = (mode: string) => mode !== '000000';
  const retyped =
    exists(entry.oldMode) && exists(entry.newMode) && kind(entry.oldMode) !== kind(entry.newMode);
  if (!retyped) return first;
  const second = readSection(output, first.end);
  return {
    hunks: [...first.hunks, ...second.hunks],
    binary: first.binary || second.binary,
    notText: first.notText || second.notText,
    end: second.end,
  };
}

const sectionStart = Buffer.from('diff --git ');
const hunkStart = Buffer.from('@@ ');
const binaryStarts = [Buffer.from('Binary files '), Buffer.from('GIT binary patch')];

function readSection(output: Buffer, start: number): Section {
  if (!startsWith(output, start, sectionStart)) throw unreadable('a changed file without a patch');
  let at = lineEnd(output, start);
  let binary = false;
  // Git quotes paths in headers, so each header field is exactly one line.
  while (at < output.length && !startsWith(output, at, sectionStart) && !startsWith(output, at, hunkStart)) {
    binary ||= binaryStarts.some((prefix) => startsWith(output, at, prefix));
    at = lineEnd(output, at);
  }
  const hunks: Hunk[] = [];
  let notText = false;
  while (startsWith(output, at, hunkStart)) {
    const { hunk, end } = readHunk(output, at);
    // The heading after the second @@ is cut at a byte limit and may be broken text: the body alone counts.
    if (!isUtf8(output.subarray(lineEnd(output, at), end))) notText = true;
    hunks.push(hunk);
    at = end;
  }
  return { hunks, binary, notText, end: at };
}

const hunkHeader = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

function readHunk(output: Buffer, start: number): { hunk: Hunk; end: number } {
  const match = hunkHeader.exec(output.toString('latin1', start, Math.min(start + 100, output.length)));
  if (match === null) throw unreadable('a hunk header');
  const [oldStart, newStart] = [Number(match[1]), Number(match[3])];
  // A count that is left out is 1.
  const [oldLines, newLines] = [Number(match[2] ?? 1), Number(match[4] ?? 1)];
  const lines: DiffLine[] = [];
  let [oldLine, newLine] = [oldStart, newStart];
  let at = lineEnd(output, start);
  while (oldLine < oldStart + oldLines || newLine < newStart + newLines) {
    const end = lineEnd(output, at);
    const kind = kindOf(output[at]);
    const text = output.toString('utf8', at + 1, end - 1);
    at = end;
    const noFinalNewline = output[at] === 0x5c;
    if (noFinalNewline) at = lineEnd(output, at);
    lines.push({
      kind,
      text,
      oldLine: kind === 'added' ? null : oldLine++,
      newLine: kind === 'deleted' ? null : newLine++,
      ...(noFinalNewline ? { noFinalNewline: true as const } : {}),
    });
  }
  return { hunk: { oldStart, oldLines, newStart, newLines, lines }, end: at };
}

function kindOf(byte: number | undefined): DiffLine['kind'] {
  if (byte === 0x20) return 'context';
  if (byte === 0x2b) return 'added';
  if (byte === 0x2d) return 'deleted';
  throw unreadable('a line of a hunk that is neither context, added nor deleted');
}

function startsWith(output: Buffer, at: number, prefix: Buffer): boolean {
  const end = at + prefix.length;
  return end <= output.length && prefix.compare(output, at, end) === 0;
}

/** Offset behind the `\n` that ends the line at `at`. */
function lineEnd(output: Buffer, at: number): number {
  const end = output.indexOf(0x0a, at);
  if (end === -1) throw unreadable('it ends inside a line');
  return end + 1;
}
