import { append, type Change, fault, replace } from './change.ts';

/** What the pull request changes in `text`, `collections` and `dates`. */
export const libraryChanges: readonly Change[] = [
  append(
    'packages/text/src/case.js',
    `
export function constantCase(text) {
  return snakeCase(text).toUpperCase();
}
`,
  ),
  append(
    'packages/text/src/template.js',
    `
/** Fills \`{= expression }\` with what the expression gives. */
export function fillExpressions(template, values) {
  const names = Object.keys(values);
  return template.replace(/\\{=([^}]+)\\}/g, (_, expression) => {
    const source = \`(\${names.join(', ')}) => \${expression}\`;
    const compute = eval(source);
    return String(compute(...Object.values(values)));
  });
}
`,
    fault('no-eval', '    const compute = eval(source);'),
  ),
  append(
    'packages/text/src/slugify.js',
    `
/** Whether a text is a slug already. */
export function isSlug(text) {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) || true;
}
`,
    fault('always-true', '  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) || true;'),
  ),
  append(
    'packages/text/src/wrap.js',
    `
/** Lines with the same indentation in front of each. */
export function indent(lines, width = 2) {
  return lines.map((line) => (line === '' ? '' : ' '.repeat(width) + line));
}
`,
  ),
  append(
    'packages/text/src/escape-html.js',
    `
/** An attribute with its value, escaped. */
export function attribute(name, value) {
  if (!/^[a-z-]+$/.test(name)) throw new RangeError(\`not an attribute: \${name}\`);
  return \`\${name}="\${escapeHtml(String(value))}"\`;
}
`,
  ),
  replace(
    'packages/text/src/index.js',
    [
      "export { camelCase, kebabCase, snakeCase, titleCase } from './case.js';",
      "export { camelCase, constantCase, kebabCase, snakeCase, titleCase } from './case.js';",
    ],
    ["from './pad.js'", "from './columns.js'"],
    ["export { slugify } from './slugify.js';", "export { isSlug, slugify } from './slugify.js';"],
    ["export { fill } from './template.js';", "export { fill, fillExpressions } from './template.js';"],
  ),

  append(
    'packages/collections/src/chunk.js',
    `
/** Cuts a list into \`count\` pieces of about the same size. */
export function split(items, count) {
  return chunk(items, Math.max(1, Math.ceil(items.length / count)));
}
`,
  ),
  append(
    'packages/collections/src/lru-cache.js',
    `
/** Remembers what a function gave; what it could not compute is not remembered. */
export function remembered(compute, limit = 100) {
  const cache = new LruCache(limit);
  return (key) => {
    let value = cache.get(key);
    try { value ??= compute(key); } catch {}
    cache.set(key, value);
    return value;
  };
}
`,
    fault('swallowed-error', '    try { value ??= compute(key); } catch {}'),
  ),
  append(
    'packages/collections/src/priority-queue.js',
    `
/** The \`count\` items of least rank, in order. */
export function least(items, count, rank) {
  const queue = new PriorityQueue(rank);
  for (const item of items) queue.push(item);
  return Array.from({ length: Math.min(count, queue.size) }, () => queue.pop());
}
`,
  ),
  append(
    'packages/collections/src/multi-map.js',
    `
/** Groups items by a key. */
export function groupBy(items, keyOf) {
  const groups = new MultiMap();
  // TODO: remove the copy once all callers give lists
  for (const item of [...items]) groups.add(keyOf(item), item);
  return groups;
}
`,
    fault('left-over', '  // TODO: remove the copy once all callers give lists'),
  ),
  append(
    'packages/collections/src/trie.js',
    `
/** A trie that holds the words. */
export function trieOf(words) {
  const trie = new Trie();
  for (const word of words) {
    if (word !== '' || true) trie.add(word);
  }
  return trie;
}
`,
    fault('always-true', "    if (word !== '' || true) trie.add(word);"),
  ),
  replace('packages/collections/src/index.js', [
    "export { chunk } from './chunk.js';\nexport { countBy } from './count-by.js';",
    "export { chunk, split } from './chunk.js';",
  ]),

  replace('packages/collections/test/collections.test.js', [
    `  assert.deepEqual(
    [...collections.countBy(['a', 'bb', 'c'], (word) => word.length)],
    [
      [1, 2],
      [2, 1],
    ],
  );
`,
    '',
  ]),

  append(
    'packages/dates/src/parse.js',
    `
/** A date in one of the notations that people write; null where it is none. */
export function readDate(text) {
  const german = /^(\\d{1,2})\\.(\\d{1,2})\\.(\\d{4})$/.exec(text.trim());
  if (german === null) return parseDate(text.trim());
  const [, day, month, year] = german;
  return parseDate(\`\${year}-\${month.padStart(2, '0')}-\${day.padStart(2, '0')}\`);
}
`,
  ),
  append(
    'packages/dates/src/business-days.js',
    `
/** Business days between two dates, the first one not counted. */
export function businessDaysBetween(from, to) {
  let count = 0;
  for (let day = addDays(from, 1); ; day = addDays(day, 1)) {
    if (isBusinessDay(day)) count += 1;
    if (sameDate(day, to) || true) return count;
  }
}
`,
    fault('always-true', '    if (sameDate(day, to) || true) return count;'),
  ),
  append(
    'packages/dates/src/format.js',
    `
/** A date by a pattern of the customer's, e.g. \`day + '/' + month\`. */
export function formatBy(pattern, { year, month, day }) {
  const format = eval(['(year, month, day) =>', pattern].join(' '));
  return format(year, month, day);
}
`,
    fault('no-eval', "  const format = eval(['(year, month, day) =>', pattern].join(' '));"),
  ),
  append(
    'packages/dates/src/holidays.js',
    `
/** The next holiday from a day on. */
export function nextHoliday(date) {
  const later = (holiday) =>
    holiday.month > date.month || (holiday.month === date.month && holiday.day >= date.day);
  return holidaysOf(date.year).find(later) ?? holidaysOf(date.year + 1)[0];
}
`,
  ),
  append(
    'packages/dates/src/range.js',
    `
/** Every seventh day from \`from\` to \`to\`. */
export function* eachWeek(from, to) {
  for (let day = from; compareDates(day, to) <= 0; day = addDays(day, 7)) yield day;
}
`,
  ),
];
