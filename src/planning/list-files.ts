import { directoryOf } from './packages.ts';

/** Characters of paths that a planner is shown. */
export const shownPaths = 60_000;

/**
 * The repository's paths, one a line, for a planner. Where they are too many, directories stand for their files,
 * the deepest and largest first, and the text says so. A name with a line break is a JSON string.
 */
export function listFiles(files: readonly string[], limit: number = shownPaths): string {
  const lines = files.map(line);
  if (lengthOf(lines) <= limit) return lines.join('\n');
  const byDirectory = [...Map.groupBy(files, directoryOf)].map(([directory, members]) => ({
    directory,
    members,
    folded: false,
  }));
  let length = lengthOf(lines);
  const largest = byDirectory
    .filter(({ directory, members }) => directory !== '' && members.length > 1)
    .toSorted((a, b) => b.members.length - a.members.length || (a.directory < b.directory ? -1 : 1));
  for (const group of largest) {
    if (length <= limit) break;
    group.folded = true;
    length += fold(group).length + 1 - lengthOf(group.members.map(line));
  }
  const shown = byDirectory.flatMap((group) => (group.folded ? [fold(group)] : group.members.map(line)));
  const note = `[there are ${files.length} files; directories stand for their files where a number follows]`;
  let kept = shown.length;
  for (length = lengthOf(shown); length > limit && kept > 0; kept -= 1)
    length -= (shown[kept - 1]?.length ?? 0) + 1;
  const cut = kept < shown.length ? [`[${shown.length - kept} more lines are left out]`] : [];
  return [note, ...shown.slice(0, kept), ...cut].join('\n');
}

function fold({ directory, members }: { directory: string; members: readonly string[] }): string {
  return `${line(directory)}/ (${members.length} files)`;
}

function line(path: string): string {
  return /[\n\r"]/.test(path) ? JSON.stringify(path) : path;
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, text) => sum + text.length + 1, 0);
}
