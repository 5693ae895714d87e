/** Jest, Vitest and Mocha. */

/**
 * Jest writes `FAIL <file>` and below it `● suite › test`; Vitest `FAIL <file> > suite > test`. Both may repeat
 * them in a summary.
 */
export function failuresInJest(lines: readonly string[]): string[] {
  const names = new Set<string>();
  let file: string | null = null;
  let bullets = 0;
  const close = () => {
    if (file !== null && bullets === 0) names.add(file);
    file = null;
  };
  for (const line of lines) {
    const header = /^\s*FAIL {1,2}(?:\|[^|]*\| )?(?=\S)(?!\()(.+)$/.exec(line)?.[1];
    if (header !== undefined) {
      close();
      const timeless = header.replace(/ \(\d[\d.]* m?s\)$/, '');
      // Vitest repeats the name of a file that could not be loaded.
      const text = timeless.endsWith(' ]') ? (timeless.split(' [ ')[0] ?? '') : timeless;
      const [path = '', ...titles] = text.split(' > ');
      if (titles.length > 0) {
        names.add(`${path}:${titles.join(' > ')}`);
      } else if (/^\S+\.[cm]?[jt]sx?$/.test(path) || header !== text) {
        file = path;
        bullets = 0;
      }
      continue;
    }
    const bullet = /^ {2}● (.+)$/.exec(line)?.[1];
    if (bullet !== undefined && file !== null && !/^Console$/.test(bullet)) {
      names.add(`${file}:${bullet.split(' › ').join(' > ')}`);
      bullets += 1;
    }
    if (/^\s*(?:PASS {1,2}\S|Test Suites: |Test Files )/.test(line)) close();
  }
  close();
  return [...names];
}

/** Titles above a test; more is no list of failures. */
const deepest = 50;

/** Mocha lists failures after `N failing`: a number, then one title a line, the last with a colon. */
export function failuresInMocha(lines: readonly string[]): string[] {
  const names: string[] = [];
  let listing = false;
  let titles: string[] | null = null;
  for (const line of lines) {
    if (/^ +\d+ failing$/.test(line)) listing = true;
    if (!listing) continue;
    const first = /^ +\d+\) (.+)$/.exec(line)?.[1];
    if (first !== undefined) titles = [];
    if (titles === null) continue;
    const title = first ?? line.trim();
    if (title === '' || titles.length > deepest) {
      titles = null;
    } else if (title.endsWith(':')) {
      names.push([...titles, title.slice(0, -1)].join(' > '));
      titles = null;
    } else {
      titles.push(title);
    }
  }
  return names;
}
