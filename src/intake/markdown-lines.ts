/** What a line of Markdown begins, as CommonMark has it, as far as the command grammar needs to know. */

/** A fence that a line opens. `column`: how far the list item that holds it is indented; 0 outside lists. */
export interface Fence {
  readonly character: '`' | '~';
  readonly length: number;
  readonly column: number;
}

export function startsQuote(line: string): boolean {
  return /^ {0,3}>/.test(line);
}

export function startsFence(line: string): Fence | null {
  const match = /^( *(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})(.*)$/.exec(line);
  const [, before = '', marker = '', info = ''] = match ?? [];
  if (match === null) return null;
  const listed = before.trim() !== '';
  if (!listed && before.length > 3) return null;
  const character = marker.startsWith('~') ? '~' : '`';
  if (character === '`' && info.includes('`')) return null;
  return { character, length: marker.length, column: listed ? before.length : 0 };
}

export function isIndentedCode(line: string): boolean {
  return /^(?: {4}| {0,3}\t)/.test(line);
}

export function isHeading(line: string): boolean {
  return /^ {0,3}#{1,6}(?:[ \t]|$)/.test(line);
}

/** True where the line ends a paragraph before it: blank, or the start of something else. */
export function endsParagraph(line: string): boolean {
  return (
    line.trim() === '' ||
    startsQuote(line) ||
    startsFence(line) !== null ||
    isHeading(line) ||
    /^ {0,3}(?:[-+*]|1[.)])[ \t]+\S/.test(line) ||
    /^ {0,3}(?:=+|-+)[ \t]*$/.test(line) ||
    /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/.test(line)
  );
}
