import type { FileChange } from '../../../src/domain/change.ts';

/** Applies a change's hunks to the old text, strictly: every context and deleted line must be where it says. */
export function applyHunks(oldText: string, change: FileChange): string {
  const old = oldText.split(/(?<=\n)/).filter((line) => line !== '');
  const result: string[] = [];
  let at = 0;
  for (const hunk of change.hunks) {
    // Git numbers a hunk without lines on a side by the line before it.
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    if (start < at) throw new Error('hunks overlap');
    result.push(...old.slice(at, start));
    at = start;
    const expectedNew = hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1;
    if (result.length !== expectedNew)
      throw new Error(`new side starts at ${result.length}, not ${expectedNew}`);
    for (const line of hunk.lines) {
      const text = line.text + (line.noFinalNewline === true ? '' : '\n');
      if (line.kind !== 'added') {
        if (old[at] !== text)
          throw new Error(`old line ${at + 1} is ${JSON.stringify(old[at])}, not ${JSON.stringify(text)}`);
        at += 1;
        if (line.oldLine !== at) throw new Error(`old line ${at} is numbered ${line.oldLine}`);
      } else if (line.oldLine !== null) throw new Error('an added line has an old number');
      if (line.kind !== 'deleted') {
        result.push(text);
        if (line.newLine !== result.length)
          throw new Error(`new line ${result.length} is numbered ${line.newLine}`);
      } else if (line.newLine !== null) throw new Error('a deleted line has a new number');
    }
  }
  return [...result, ...old.slice(at)].join('');
}
