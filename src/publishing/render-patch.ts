import { codeSpan } from './defuse.ts';
import { codeBlock, fitItems, maxBody } from './fit-markdown.ts';

/**
 * A patch as a comment that `git apply` takes: whole files only, as many as fit; the others are named. `patch` null:
 * it is no text or too large to show.
 */
export function renderPatch(patch: Buffer | null, headSha: string, report: string): string {
  const head = `The patch for ${headSha.slice(0, 12)}, which is in a fork: save it and run \`git apply\`.`;
  const text = patch === null ? null : decode(patch);
  if (text === null) {
    return `${report}\n\nThe patch is too large for a comment, or it is no plain text.`;
  }
  const files = text.split(/^(?=diff --git )/m).filter((part) => part !== '');
  const room = maxBody - report.length - head.length - 2_500;
  const shown: string[] = [];
  const missing: string[] = [];
  let used = 0;
  for (const file of files) {
    if (used + file.length <= room) {
      shown.push(file);
      used += file.length;
    } else missing.push(/^diff --git (.*)$/m.exec(file)?.[1] ?? '');
  }
  const block =
    shown.length === 0 ? '' : `\n\n${head}\n\n${codeBlock(shown.join('').replace(/\n$/, ''), 'diff')}`;
  const left = fitItems({
    before: '\n\nToo long for a comment, so not in it:\n\n',
    items: missing.map((name) => `- ${codeSpan(name, 200)}`),
    after: '',
    gap: '\n',
    max: 1_500,
    more: (count) => `- and ${count} more`,
  }).text;
  return `${report}${block}${missing.length === 0 ? '' : left}`;
}

function decode(patch: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(patch);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
