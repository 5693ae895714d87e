import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../../src/domain/failure.ts';
import { families } from '../../attacks/families.ts';

/** What people read names many things; each is to be there. */

const root = fileURLToPath(new URL('../../..', import.meta.url));
const filesOf = (...patterns: string[]) => globSync(patterns, { cwd: root }).sort();
const manuals = filesOf('README.md', '.github/*.md', 'docs/**/*.md', 'test/README.md', 'test/*/**/README.md');
const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
/** Of every match in every manual, what `wrong` says of it. */
function wrongOnes(pattern: RegExp, wrong: (found: string, manual: string) => boolean): string[] {
  return manuals.flatMap((manual) =>
    [...textOf(manual).matchAll(pattern)].flatMap(([, found = '']) =>
      wrong(found, manual) ? [`${manual}: ${found}`] : [],
    ),
  );
}

/** As GitHub makes them of headings. */
const anchorsOf = (path: string) =>
  [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

describe('what the manuals name', () => {
  it('are places and headings that are there, in links', () => {
    const wrong = wrongOnes(/\]\(([^)\s]+)\)/g, (link, manual) => {
      if (/^https?:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const place = path === '' ? manual : normalize(join(dirname(manual), path));
      if (!existsSync(join(root, place))) return true;
      return anchor !== undefined && !anchorsOf(place).includes(anchor);
    });
    expect(wrong).toEqual([]);
  });

  it('are files of this repository', () => {
    const known = filesOf('*.*', '.*', '{.github,docs,deploy,sandbox,src,test}/**/*.*').map(
      (path) => `/${path}`,
    );
    // Keys of the configuration end alike.
    const wrong = wrongOnes(
      /`([\w./-]+\.(?:ts|mjs|cjs|js|md))`/g,
      (named) => !known.some((path) => path.endsWith(`/${named.replace(/^\.\//, '')}`)),
    );
    expect(wrong).toEqual([]);
  });

  it('are keys that the configuration has', () => {
    const keys = [...textOf('docs/configuration.md').matchAll(/^\| `([\w.]+)` \|/gm)].map(
      ([, key = '']) => key,
    );
    const isKey = (named: string) => keys.some((key) => `.${key}.`.includes(`.${named}.`));
    const parts = 'limits|sandbox|pool|network|timing|verify|setup|fix|triage|batch|review';
    const pattern = new RegExp(`\`((?:${parts})\\.(?!ts\`)[a-z_.]+)\``, 'g');
    expect(wrongOnes(pattern, (named) => !isKey(named))).toEqual([]);
    expect(keys.length).toBeGreaterThan(50);
  });

  it('are commands that package.json has', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: object };
    expect(wrongOnes(/npm run (?:-s )?([a-z][\w:-]*)/g, (name) => !(name in scripts))).toEqual([]);
  });
});

it('every decision is in the index, by its title', () => {
  const listed = [...textOf('docs/adr/README.md').matchAll(/^- \[(\d{4})\]\(([^)]+)\) (.*)$/gm)].map(
    (found) => found.slice(1),
  );
  const decisions = filesOf('docs/adr/0*.md').map((path) => {
    const [, number, title] = /^# (\d{4}): (.*)$/m.exec(textOf(path)) ?? [];
    return [number, path.replace('docs/adr/', ''), title];
  });
  expect(listed).toEqual(decisions);
});

/** The table below that heading: what is quoted in its column of that number. */
function quotedIn(heading: string, column: number): string[] {
  const [, section = ''] = textOf('docs/operations.md').split(`\n${heading}\n`);
  const rows = section.split(/\n#/)[0]?.match(/^\|.*$/gm) ?? [];
  return rows.flatMap((row) =>
    [...(row.split(' | ')[column]?.matchAll(/`([^`]+)`/g) ?? [])].map(([, text = '']) => text),
  );
}

describe('the words that the manual quotes', () => {
  const sources = filesOf('src/**/*.ts').map(textOf).join('\n');

  it('of failing sandboxes are ours, or the engine’s', () => {
    const ofEngine = ['connect ENOENT', 'ECONNREFUSED', 'EACCES', 'No such image', 'no space left on device'];
    const quoted = quotedIn('### Where a sandbox fails', 1);
    expect(quoted.length).toBeGreaterThan(20);
    const known = (text: string) => text.split('...').every((part) => sources.includes(part.trim()));
    expect(quoted.filter((text) => !known(text) && !ofEngine.includes(text))).toEqual([]);
  });

  it('of the log are ours, some with a name put in', () => {
    const quoted = quotedIn('## The log', 0);
    expect(quoted.length).toBeGreaterThan(40);
    // Put together: `${name} failed`, `GitHub ${kind} rate limit`.
    const partOf = (text: string) => text.replace(/ failed$/, '').replace(/^GitHub \w+( rate limit)$/, '$1');
    const known = (text: string) => sources.includes(text) || sources.includes(partOf(text));
    expect(quoted.filter((text) => !known(text))).toEqual([]);
  });
});

it('the attacks are counted as they are', () => {
  const text = textOf('docs/security.md');
  const told = [...text.matchAll(/^\| `([\w-]+)` \| (\d+) \| (.*) \|$/gm)].map(([, name, cases, what]) => [
    name,
    Number(cases),
    what,
  ]);
  expect(told).toEqual(families.map(({ name, attacks, title }) => [name, attacks.length, title]));
  const total = families.reduce((sum, { attacks }) => sum + attacks.length, 0);
  expect(text).toMatch(new RegExp(`^${total} cases;`, 'm'));
});

it('the manual tells what to do for every way in which a sandbox fails', () => {
  const manual = textOf('docs/operations.md');
  const table = manual.slice(manual.indexOf('### Where a sandbox fails'));
  const ofSandboxes = failureCodes.filter((code) => /^(?:sandbox|memory|disk|setup|image)_/.test(code));
  expect(ofSandboxes.filter((code) => !table.includes(`| \`${code}\` |`))).toEqual([]);
});
