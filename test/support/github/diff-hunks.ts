import { git, mergeBase } from './git.ts';

/** A line of a hunk with its numbers on both sides; null on the side that has it not. */
export interface DiffLine {
  readonly left: number | null;
  readonly right: number | null;
  /** GitHub's `position`: lines below the file's first `@@`. */
  readonly position: number;
  readonly text: string;
}

export interface DiffHunk {
  readonly header: string;
  readonly lines: readonly DiffLine[];
}

/** The diff GitHub shows for a pull request: three lines of context against the merge base, renames followed. */
export interface PullDiff {
  /** The hunks of a path; null where it is not in the diff, empty for binary files and mode changes. */
  hunks(path: string): Promise<readonly DiffHunk[] | null>;
}

export async function openDiff(dir: string, base: string, head: string): Promise<PullDiff> {
  const from = (await mergeBase(dir, base, head)) ?? base;
  const names = (await git(dir, ['diff', '-z', '--name-status', '-M', from, head]))
    .toString('utf8')
    .split('\0');
  const known = new Map<string, Promise<readonly DiffHunk[] | null>>();
  const read = async (path: string): Promise<readonly DiffHunk[] | null> => {
    const paths = pathsOfChange(names, path);
    if (!paths) return null;
    const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '-U3', '-M', from, head, '--'];
    return parseHunks((await git(dir, [...args, ...paths])).toString('utf8'));
  };
  return {
    hunks(path) {
      const hunks = known.get(path) ?? read(path);
      known.set(path, hunks);
      return hunks;
    },
  };
}

/** From `--name-status -z` fields: the paths that make up the change whose new (or deleted) name is `path`. */
function pathsOfChange(fields: readonly string[], path: string): string[] | null {
  for (let i = 0; i + 1 < fields.length; ) {
    const twoNames = /^[RC]/.test(fields[i] ?? '');
    const first = fields[i + 1] ?? '';
    const last = twoNames ? (fields[i + 2] ?? '') : first;
    if (last === path) return twoNames ? [first, last] : [last];
    i += twoNames ? 3 : 2;
  }
  return null;
}

/** Reads the hunks of a one-file patch by counting down what each header promises. */
export function parseHunks(patch: string): DiffHunk[] {
  const rows = patch.split('\n');
  const hunks: DiffHunk[] = [];
  let position = 0;
  for (let i = 0; i < rows.length; i++) {
    const header = rows[i] ?? '';
    const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(header);
    if (!match) continue;
    let left = Number(match[1]);
    let right = Number(match[3]);
    const leftEnd = left + Number(match[2] ?? 1);
    const rightEnd = right + Number(match[4] ?? 1);
    const lines: DiffLine[] = [];
    if (hunks.length > 0) position++;
    while (left < leftEnd || right < rightEnd) {
      const text = rows[++i];
      if (text === undefined) throw new Error(`hunk ${header} ends early`);
      position++;
      if (text.startsWith('\\')) continue;
      const sign = text[0];
      lines.push({
        left: sign === '+' ? null : left++,
        right: sign === '-' ? null : right++,
        position,
        text,
      });
    }
    if (rows[i + 1]?.startsWith('\\')) {
      position++;
      i++;
    }
    hunks.push({ header, lines });
  }
  return hunks;
}
