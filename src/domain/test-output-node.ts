/** Node's own test runner: its `spec` output (the default) and TAP. */

/** Characters of a test's path. */
const longestPath = 300;
/** Durations are the last words of a line. */
const failed = /^\s*✖ (.+?)(?: \(\d[\d.]*ms\))?(?: # .*)?$/;

/**
 * The list at the end names the file of each test; where it is missing, the lines as they came. A name that fails
 * more than once in a file is counted (`name (2)`), so that a known failure hides no new one of its name.
 */
export function failuresInNodeSpec(lines: readonly string[]): string[] {
  const listed: string[] = [];
  const inline: string[] = [];
  for (const [at, line] of lines.entries()) {
    const name = failed.exec(line)?.[1];
    if (name === undefined || name === 'failing tests:') continue;
    const place = /^test at (.+?):\d+:\d+$/.exec(lines[at - 1] ?? '')?.[1];
    if (place !== undefined) listed.push(place === name ? place : `${place}:${name}`);
    else inline.push(name);
  }
  return count(listed.length > 0 ? listed : inline);
}

/** Failing leaves by their path (`suite > test`); TODO and SKIP are no failures. */
export function failuresInTap(lines: readonly string[]): string[] {
  const open: { indent: number; path: string }[] = [];
  const names: string[] = [];
  let current: { path: string; place: string | null; leaf: boolean } | null = null;
  const close = () => {
    const { path, place, leaf } = current ?? { path: '', place: null, leaf: false };
    if (leaf) names.push(place === null || place === path ? path : `${place}:${path}`);
    current = null;
  };
  const leave = (indent: number) => {
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
  };
  // Shortened at every level: an output may nest as deep as it likes.
  const below = (name: string) => {
    const above = open.at(-1)?.path;
    return (above === undefined ? name : `${above} > ${name}`).slice(0, longestPath);
  };
  for (const line of lines) {
    const [, space = '', begun] = /^( *)# Subtest: (.+)$/.exec(line) ?? [];
    if (begun !== undefined) {
      leave(space.length);
      open.push({ indent: space.length, path: below(begun) });
    }
    const result = /^( *)(not )?ok \d+(?: -)? (.+?)( # (?:TODO|SKIP)\b.*)?$/i.exec(line);
    if (result !== null) {
      close();
      const [, indent = '', not, name = '', excuse] = result;
      leave(indent.length);
      if (not !== undefined && excuse === undefined) current = { path: below(name), place: null, leaf: true };
    }
    if (current === null) continue;
    // The block below a result says where the test stands, and whether only its subtests failed.
    const place = /^ *location: '(.+?):\d+:\d+'$/.exec(line)?.[1];
    if (place !== undefined) current.place = place;
    if (/^ *failureType: 'subtestsFailed'$/.test(line)) current.leaf = false;
    if (/^ *\.\.\.$/.test(line)) close();
  }
  close();
  return count(names);
}

function count(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name} (${times})`;
  });
}
