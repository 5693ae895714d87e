import { head } from './defuse.ts';

/** Keeps Markdown within a length without breaking what follows it. Lengths are UTF-16 units. */

/** GitHub's limits: comment and review bodies; summary and text of a check run. */
export const maxBody = 65_536;
export const maxSummary = 65_535;

interface Fence {
  readonly indent: string;
  readonly mark: string;
}

/** Each alternative begins with another character, so that no line makes it backtrack. */
const fenceLine = /^((?:[ \t>]|[-*+] |\d{1,9}[.)] )*)(`{3,}|~{3,})(.*)$/;

/** Ends the fenced code block that `markdown` leaves open, if it does. */
export function closeFences(markdown: string): string {
  const open = openFence(markdown);
  if (open === null) return markdown;
  const newline = markdown.endsWith('\n') ? '' : '\n';
  return `${markdown}${newline}${open.indent}${open.mark}`;
}

export function openFence(markdown: string): Fence | null {
  let open: Fence | null = null;
  for (const line of markdown.split('\n')) {
    const [, indent = '', mark = '', rest = ''] = fenceLine.exec(line) ?? [];
    if (mark === '') continue;
    if (open === null) {
      // An info string of a backtick fence holds no backtick: that would be inline code.
      if (mark.startsWith('~') || !rest.includes('`')) {
        open = { indent: indent.replace(/[-*+\d.)]/g, ' '), mark };
      }
    } else if (mark[0] === open.mark[0] && mark.length >= open.mark.length && rest.trim() === '') {
      open = null;
    }
  }
  return open;
}

/** A fence longer than any run of backticks in `code`. */
export function fenceFor(code: string): string {
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  return '`'.repeat(longest + 1);
}

/** A fenced code block that holds exactly `code`. */
export function codeBlock(code: string, info = ''): string {
  const fence = fenceFor(code);
  return `${fence}${info}\n${code === '' ? '' : `${code}\n`}${fence}`;
}

/** The text with its fences closed or, where it is too long, its beginning, fences closed, and `notice`. */
export function capMarkdown(text: string, max: number, notice: string): string {
  const whole = closeFences(text);
  if (whole.length <= max) return whole;
  const room = max - notice.length;
  let kept = head(text, room);
  let closed = closeFences(kept);
  while (closed.length > room && kept !== '') {
    kept = head(kept, kept.length - (closed.length - room));
    closed = closeFences(kept);
  }
  return head(`${closed}${notice}`, max);
}

/**
 * `before`, as many `items` as fit (each on its own lines, parted by `gap`), and `after`, which is never cut. `more` says
 * how many were left out. Every part must have its own fences closed.
 */
export function fitItems(parts: {
  readonly before: string;
  readonly items: readonly string[];
  readonly after: string;
  readonly gap: string;
  readonly max: number;
  readonly more: (left: number) => string;
}): { text: string; shown: number } {
  const { before, items, after, gap, max, more } = parts;
  const build = (shown: number) => {
    const left = items.length - shown;
    const list = [...items.slice(0, shown), ...(left > 0 ? [more(left)] : [])];
    return `${before}${list.join(gap)}${after}`;
  };
  let shown = items.length;
  let length = build(shown).length;
  while (length > max && shown > 0) {
    shown -= 1;
    length -= (items[shown]?.length ?? 0) + gap.length;
    if (length <= max) length = build(shown).length;
  }
  const text = build(shown);
  if (text.length <= max) return { text, shown };
  return { text: `${capMarkdown(before, Math.max(0, max - after.length), '…')}${after}`, shown: 0 };
}
