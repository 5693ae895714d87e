import {
  endsParagraph,
  type Fence,
  isHeading,
  isIndentedCode,
  startsFence,
  startsQuote,
} from './markdown-lines.ts';

/** What a comment asks of us. The verb is in lower case and may be unknown; arguments are as written. */
export interface Command {
  readonly verb: string;
  readonly args: string;
}

/** Commands of one comment that are acted on; what is beyond them is noise. */
export const commandsPerComment = 3;

type Lines = readonly string[];

/**
 * The distinct commands of a comment, in order: `/patchfleet <verb>` or `@patchfleet <verb>` at the start of
 * a line of running text; `/patchfleet` alone is `help`. Never in fenced, indented or inline code, in block
 * quotes (with the lines that continue their last paragraph), HTML comments, raw HTML code or quotes. In
 * doubt there is no command. Total: any string has an answer.
 */
export function parseCommands(markdown: string): Command[] {
  if (!/^ {0,3}[/@]patchfleet\b/im.test(markdown.replaceAll('\r', '\n'))) return [];
  const lines = markdown.split(/\r\n|\n|\r/);
  const found = new Map<string, Command>();
  const emit = (command: Command) => {
    if (found.size < commandsPerComment) found.set(`${command.verb} ${command.args}`, command);
  };
  for (let at = 0; at < lines.length; ) at = readBlock(lines, at, emit);
  return [...found.values()];
}

/** Reads the block that starts at line `at`; returns the line after it. */
function readBlock(lines: Lines, at: number, emit: (command: Command) => void): number {
  const line = lines[at] ?? '';
  if (line.trim() === '' || isIndentedCode(line)) return at + 1;
  if (startsQuote(line)) return skipQuote(lines, at);
  const fence = startsFence(line);
  return fence === null ? readText(lines, at, emit) : skipFence(lines, at + 1, fence);
}

/** A quote, and the lines of text that CommonMark takes into its last paragraph. */
function skipQuote(lines: Lines, start: number): number {
  let at = start;
  while (startsQuote(lines[at] ?? '')) at += 1;
  const last = (lines[at - 1] ?? '').replace(/^[ \t>]+/, '');
  if (endsParagraph(last)) return at;
  while (at < lines.length && !endsParagraph(lines[at] ?? '')) at += 1;
  return at;
}

function skipFence(lines: Lines, start: number, fence: Fence): number {
  const closing = fence.character === '`' ? /^(`+)[ \t]*$/ : /^(~+)[ \t]*$/;
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const indent = line.search(/[^ ]/);
    if (line.trim() === '') continue;
    // The list item that holds the fence ends at the first line indented less, and the fence with it.
    if (indent < fence.column) return at;
    const marker = closing.exec(line.slice(indent))?.[1] ?? '';
    if (marker.length >= fence.length && indent - fence.column <= 3) return at + 1;
  }
  return lines.length;
}

interface Place {
  readonly row: number;
  readonly column: number;
}

/** What may hide text: an escaped character hides nothing, a code span or an HTML region may. */
const openers = /\\.|`+|<!--|<(pre|script|style|textarea|code|blockquote)(?=[\s>])/gi;

/** Running text: its line starts are commands unless a code span or an HTML region reaches over them. */
function readText(lines: Lines, start: number, emit: (command: Command) => void): number {
  let end = endOfText(lines, start);
  let row = start;
  let column = 0;
  /** Lengths of backtick runs that nothing closes in the rest of this block. */
  const unpaired = new Set<number>();
  while (row < end) {
    const line = lines[row] ?? '';
    if (column === 0) readCommand(line, emit);
    openers.lastIndex = column;
    const opener = openers.exec(line);
    if (opener === null) {
      row += 1;
      column = 0;
      continue;
    }
    const [text, tag] = opener;
    column = opener.index + text.length;
    if (text.startsWith('`') && !unpaired.has(text.length)) {
      const close = findRun(lines, { row, column }, end, text.length);
      if (close === null) unpaired.add(text.length);
      else ({ row, column } = close);
    } else if (text.startsWith('<')) {
      // `<!-->` is a whole comment: the search starts inside the opener.
      const close = findText(
        lines,
        { row, column: opener.index + 2 },
        tag === undefined ? /-->/g : closeTag(tag),
      );
      if (close === null) return lines.length;
      ({ row, column } = close);
      if (row >= end) {
        end = endOfText(lines, row);
        unpaired.clear();
      }
    }
  }
  return row;
}

function endOfText(lines: Lines, start: number): number {
  let at = start + 1;
  if (isHeading(lines[start] ?? '')) return at;
  while (at < lines.length && !endsParagraph(lines[at] ?? '')) at += 1;
  return at;
}

/** The place after the next run of exactly `length` backticks before line `end`. */
function findRun(lines: Lines, from: Place, end: number, length: number): Place | null {
  for (let row = from.row; row < end; row += 1) {
    const runs = /`+/g;
    runs.lastIndex = row === from.row ? from.column : 0;
    for (let run = runs.exec(lines[row] ?? ''); run !== null; run = runs.exec(lines[row] ?? '')) {
      if (run[0].length === length) return { row, column: runs.lastIndex };
    }
  }
  return null;
}

/** The place after the next match of `pattern` (global) in the rest of the comment. */
function findText(lines: Lines, from: Place, pattern: RegExp): Place | null {
  for (let row = from.row; row < lines.length; row += 1) {
    pattern.lastIndex = row === from.row ? from.column : 0;
    if (pattern.exec(lines[row] ?? '') !== null) return { row, column: pattern.lastIndex };
  }
  return null;
}

function closeTag(tag: string): RegExp {
  return new RegExp(`</${tag}\\s*>`, 'gi');
}

function readCommand(line: string, emit: (command: Command) => void): void {
  const match = /^ {0,3}([/@])patchfleet(?:[ \t]+(.*))?$/i.exec(line);
  if (match === null) return;
  const [, sign, rest = ''] = match;
  if (rest.trim() === '') {
    if (sign === '/') emit({ verb: 'help', args: '' });
    return;
  }
  const [, verb, args = ''] = /^([a-z][a-z-]{0,39})[.,;:!?]*(?:[ \t]+(.*))?$/i.exec(rest.trim()) ?? [];
  if (verb !== undefined) emit({ verb: verb.toLowerCase(), args: args.trim() });
}
