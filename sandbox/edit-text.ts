import { nearestText } from './nearest-text.ts';

/** What became of an edit. `text`: the whole new text, or null where nothing was edited. */
export interface Edit {
  readonly text: string | null;
  readonly edited: boolean;
  readonly line: number | null;
  readonly explanation: string;
}

/**
 * Replaces `old` where it occurs exactly once, or else exactly once when white space is not counted. In the second
 * case the replacement takes the indentation and the line ends of the place it comes to.
 */
export function editText(text: string, old: string, replacement: string): Edit {
  if (old === '') return refused(null, 'The text to replace is empty. To write a whole file, use write.');
  const exact = occurrences(text, old);
  const [only] = exact;
  if (exact.length === 1 && only !== undefined) return replaced(text, only, only + old.length, replacement);
  if (exact.length > 1) return ambiguous(text, exact, 'The text');

  const loose = looseOccurrences(text, old);
  const [place] = loose;
  if (loose.length === 1 && place !== undefined) {
    const { start, end, fitted } = fitIn(text, place, old, replacement);
    return replaced(text, start, end, fitted);
  }
  if (loose.length > 1) {
    const starts = loose.map(({ start }) => start);
    return ambiguous(text, starts, 'The text, white space not counted,');
  }
  const near = nearestText(text, old);
  if (near === null) return refused(null, 'The text does not occur, and nothing in the file is like it.');
  const shown = `The text does not occur. The nearest in the file, from line ${near.line}:\n${near.text}`;
  return refused(near.line, shown);
}

const refused = (line: number | null, explanation: string): Edit => ({
  text: null,
  edited: false,
  line,
  explanation,
});

function replaced(text: string, start: number, end: number, replacement: string): Edit {
  const whole = text.slice(0, start) + replacement + text.slice(end);
  if (whole === text) return refused(lineAt(text, start), 'The replacement is what stands there already.');
  return { text: whole, edited: true, line: lineAt(text, start), explanation: '' };
}

function ambiguous(text: string, starts: readonly number[], what: string): Edit {
  const lines = starts.map((start) => lineAt(text, start));
  const shown = `${lines.slice(0, 10).join(', ')}${lines.length > 10 ? ', ...' : ''}`;
  const times = lines.length >= maxOccurrences ? `${maxOccurrences} times or more` : `${lines.length} times`;
  const advice = 'Give more of the lines around it, so that it occurs once.';
  return refused(lines[0] ?? null, `${what} occurs ${times}, at lines ${shown}. ${advice}`);
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/** More are not counted. */
const maxOccurrences = 1000;

/** Offsets of `part`, overlapping ones too. */
function occurrences(text: string, part: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
    starts.push(at);
    if (starts.length === maxOccurrences) break;
  }
  return starts;
}

interface Place {
  /** From the first character that is no white space to after the last one. */
  readonly start: number;
  readonly end: number;
}

function looseOccurrences(text: string, old: string): Place[] {
  const wanted = old.replace(/\s+/g, '');
  if (wanted === '') return [];
  const offsets: number[] = [];
  let bare = '';
  for (const { 0: run, index } of text.matchAll(/\S+/g)) {
    bare += run;
    for (let at = 0; at < run.length; at += 1) offsets.push(index + at);
  }
  return occurrences(bare, wanted).map((at) => ({
    start: offsets[at] ?? 0,
    end: (offsets[at + wanted.length - 1] ?? 0) + 1,
  }));
}

/** Widens a place over the white space that `old` names at its ends, and makes the replacement fit there. */
function fitIn(text: string, place: Place, old: string, replacement: string) {
  const indentOf = (lines: string) => /^(?:[^\S\n]*\r?\n)*([^\S\r\n]*)/.exec(lines)?.[1] ?? '';
  let { start, end } = place;
  let fitted = replacement;
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const before = text.slice(lineStart, start);
  if (/^\s*$/.test(before)) {
    // Begins a line: the line's own indentation stands for the one `old` was given with.
    start = lineStart;
    const [given, here] = [indentOf(old), before];
    fitted = replacement
      .replace(/^(?:[^\S\n]*\r?\n)+/, /^[^\S\n]*\r?\n/.test(old) ? '' : '$&')
      .split('\n')
      .map((line) => (line.trim() !== '' && line.startsWith(given) ? here + line.slice(given.length) : line))
      .join('\n');
  } else {
    fitted = fitted.trimStart();
  }
  if (/\n[^\S\n]*$/.test(old)) {
    // Ends a line: so does the place, unless it is the file's last line without an end.
    const rest = /^[^\S\n]*(?:\n|$)/.exec(text.slice(end))?.[0];
    if (rest !== undefined) {
      end += rest.length;
      if (!rest.endsWith('\n')) fitted = fitted.replace(/\r?\n[^\S\n]*$/, '');
      else if (/\n[^\S\n]+$/.test(fitted)) fitted = fitted.replace(/[^\S\n]+$/, '');
    } else fitted = fitted.replace(/\s+$/, '');
  }
  const windows = /\r\n/.test(text) && !/[^\r]\n/.test(text);
  return { start, end, fitted: windows ? fitted.replace(/\r?\n/g, '\r\n') : fitted };
}
