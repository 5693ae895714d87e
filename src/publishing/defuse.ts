/**
 * Makes text that comes from outside (titles, paths, messages of models and linters) harmless in what we
 * post: it mentions nobody, hides nothing, loads nothing, and holds no command of ours. What it says stays
 * readable: where a character must be parted from the next, a zero-width space does it, which shows the
 * same in prose and in code.
 */

const part = '\u200b';

/** Control characters but tab and newline, the separators of lines that are no newlines, and what turns the direction of text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is for
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Markdown from outside, its formatting kept. */
export function defuseMarkdown(text: string): string {
  return defuseCommands(clean(text))
    .replace(/@(?=[a-z0-9])/gi, `@${part}`)
    .replace(/#(?=\d)/g, `#${part}`)
    .replace(/<(?=[a-z/!?])/gi, `<${part}`)
    .replace(/&(?=#?\w+;)/g, `&${part}`)
    .replace(/!(?=\[)/g, `!${part}`);
}

/** One line that reads as it was written, wherever it stands: in prose, a heading or a table cell. */
export function plainLine(text: string, max: number): string {
  const line = cut(clean(text).replace(/\s+/g, ' ').trim(), max);
  return defuseCommands(line)
    .replace(/@(?=[a-z0-9])/gi, `@${part}`)
    .replace(/#(?=\d)/g, `#${part}`)
    .replace(/[\\`*_{}[\]~$]/g, '\\$&')
    .replace(/[&<>|]/g, (character) => entities[character] ?? '');
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '|': '&#124;' };

/** A path or name as code, outside of tables. What is invisible in it is spelt out. */
export function codeSpan(text: string, max = 400): string {
  const shown = text.toWellFormed().replace(/[\t\n]/g, (c) => (c === '\n' ? '\\n' : '\\t'));
  const line = defuseCommands(cut(shown.replace(invisible, spell), max)).replace(/<(?=[!?])/g, `<${part}`);
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = /^[` ]|[` ]$/.test(line) ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

/** Several lines of plain text, for places that are not Markdown (annotations). */
export function plainText(text: string): string {
  return defuseCommands(clean(text)).replace(/@(?=[a-z0-9])/gi, `@${part}`);
}

/** The first `max` UTF-16 units of a text, an ellipsis the last of them when it was cut; no pair is split. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${head(text, max - 1)}…`;
}

/** The first `max` UTF-16 units of a text or, where that would split a surrogate pair, one less. */
export function head(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = Math.max(0, max);
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end);
}

function defuseCommands(text: string): string {
  return text.replace(/([/@])(?=patchfleet)/gi, `$1${part}`);
}

function clean(text: string): string {
  return text.toWellFormed().replace(/\r\n?/g, '\n').replace(invisible, '');
}

function spell(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
