import { packageJson } from './json-object.ts';
import type { VerificationCommand } from './verification.ts';

/**
 * Files that the checks of a repository run by name: `scripts/run-tests.mjs` of `node scripts/run-tests.mjs`, be it a
 * verification command or the script in package.json that one stands for. Whoever changes them changes the check.
 */
export interface CheckFacts {
  readonly commands: readonly VerificationCommand[];
  /** Content of the package.json at that path; null where there is none. */
  readonly manifestAt: (path: string) => string | null;
  /** Whether the repository has a file of that path. */
  readonly exists: (path: string) => boolean;
}

/** Programs of which the first file among the arguments is what is run. */
const interpreters = new Set([
  ...[
    'node',
    'tsx',
    'ts-node',
    'bun',
    'deno',
    'bash',
    'sh',
    'dash',
    'zsh',
    'python',
    'python3',
    'ruby',
    'perl',
  ],
  ...['php', 'npx', 'env', 'cross-env', 'c8', 'nyc', 'time', 'timeout', 'xvfb-run', 'exec'],
]);
/** Options whose value is loaded by what runs. */
const loading = new Set([
  ...['--import', '--require', '-r', '--loader', '--experimental-loader', '--config', '-c', '-f', '--file'],
  ...['--env-file', '--setup-file', '--setupFiles', '--globalSetup', '--reporter', '--test-reporter'],
]);

/** Paths of these files, sorted. What they import in turn is not followed. */
export function filesOfChecks(facts: CheckFacts): string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const read = (words: readonly string[], cwd: string): void => {
    for (const path of filesOfCommand(words, (word) => fileAt(cwd, word, facts.exists))) found.add(path);
    const script = scriptOf(words);
    if (script === null || seen.has(`${cwd}\0${script}`)) return;
    seen.add(`${cwd}\0${script}`);
    const scripts = scriptsOf(facts.manifestAt(manifestOf(cwd)));
    for (const name of [`pre${script}`, script, `post${script}`]) {
      for (const command of simpleCommands(scripts.get(name) ?? '')) read(command, cwd);
    }
  };
  for (const { argv, cwd } of facts.commands) {
    const place = directory(cwd);
    read(argv, place);
    // `sh -c 'node run.mjs'`
    for (const word of argv.filter((argument) => /\s/.test(argument))) {
      for (const command of simpleCommands(word)) read(command, place);
    }
  }
  return [...found].sort();
}

/** The package.json of what runs in that directory, as {@link CheckFacts.manifestAt} is asked for it. */
export function manifestOf(cwd: string): string {
  const place = directory(cwd);
  return place === '' ? 'package.json' : `${place}/package.json`;
}

function directory(cwd: string): string {
  return cwd.replace(/^\.\/?|\/+$/g, '');
}

function filesOfCommand(words: readonly string[], fileOf: (word: string) => string | null): string[] {
  const found: string[] = [];
  const begin = words.findIndex((word) => !/^\w+=/.test(word));
  const program = words[begin] ?? '';
  const own = fileOf(program);
  if (own !== null) found.push(own);
  let looking = interpreters.has(program.split('/').at(-1) ?? '');
  const rest = words.slice(begin + 1);
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [option, value] = splitOnce(word);
    if (loading.has(option)) {
      const path = fileOf(value ?? rest.shift() ?? '');
      if (path !== null) found.push(path);
    } else if (looking && !word.startsWith('-')) {
      const path = fileOf(word);
      if (path === null) continue;
      found.push(path);
      looking = false;
    }
  }
  return found;
}

function splitOnce(option: string): [string, string | undefined] {
  const at = option.indexOf('=');
  return at === -1 ? [option, undefined] : [option.slice(0, at), option.slice(at + 1)];
}

/** The script of package.json that a command stands for; null: none. */
function scriptOf(words: readonly string[]): string | null {
  const at = words.findIndex((word) => /^(?:node|npm|pnpm|yarn|bun)$/.test(word));
  if (at === -1) return null;
  const [program, ...rest] = words.slice(at);
  if (program === 'node')
    return rest[0] === '--run' ? (rest[1] ?? null) : (rest[0]?.match(/^--run=(.+)$/)?.[1] ?? null);
  const [first, second] = rest.filter((word) => !word.startsWith('-'));
  if (first === 'run' || first === 'run-script') return second ?? null;
  return first === 't' || first === 'tst' ? 'test' : (first ?? null);
}

function scriptsOf(manifest: string | null): Map<string, string> {
  const scripts = packageJson(manifest ?? '')?.['scripts'];
  if (typeof scripts !== 'object' || scripts === null) return new Map();
  return new Map(
    Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The commands of a line of shell, as words without their quotes. Not a shell: good for the lines people write. */
function simpleCommands(line: string): string[][] {
  return line
    .split(/&&|\|\||[;|&\n()]/)
    .map((part) =>
      (part.match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) ?? []).map((word) => word.replace(/["']/g, '')),
    )
    .filter((words) => words.length > 0);
}

function fileAt(cwd: string, word: string, exists: (path: string) => boolean): string | null {
  const parts: string[] = [];
  for (const part of [...cwd.split('/'), ...word.split('/')]) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const path = parts.join('/');
  return path !== '' && !word.startsWith('/') && exists(path) ? path : null;
}
