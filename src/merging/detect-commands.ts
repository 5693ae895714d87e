import { packageJson } from '../domain/json-object.ts';
import type { VerificationCommand } from '../domain/verification.ts';

/** What a repository shows of how it is tested. */
export interface TestSigns {
  /** Paths of all its files. */
  readonly paths: readonly string[];
  /** Contents of those of {@link manifestPaths} that are there. */
  readonly manifests: ReadonlyMap<string, string>;
  /** `verify.commands` of the repository file; null: found from its files. */
  readonly configured: readonly (readonly string[])[] | null;
}

/** Files at the root whose content decides. */
export const manifestPaths = [
  'package.json',
  'Makefile',
  'pyproject.toml',
  'setup.cfg',
  'tox.ini',
  'requirements-dev.txt',
];

/**
 * The commands that check a repository: the configured ones (an empty list: none), else one for each language found
 * at its root, else `make test`. Empty where nothing is found.
 */
export function detectCommands(signs: TestSigns): VerificationCommand[] {
  if (signs.configured !== null) return signs.configured.map((argv) => command(argv));
  const paths = new Set(signs.paths);
  const found = [
    // Without npm: Node runs the script itself, and the image needs nothing more.
    ...(hasTestScript(signs.manifests.get('package.json')) ? [['node', '--run', 'test']] : []),
    ...(paths.has('go.mod') ? [['go', 'test', './...']] : []),
    ...(paths.has('Cargo.toml') ? [['cargo', 'test']] : []),
    ...python(signs, paths),
  ];
  if (found.length > 0) return found.map((argv) => command(argv));
  return /^test\s*:(?!=)/m.test(signs.manifests.get('Makefile') ?? '') ? [command(['make', 'test'])] : [];
}

function command(argv: readonly string[]): VerificationCommand {
  return { name: argv.map(shown).join(' '), argv: [...argv], cwd: '' };
}

/** An argument as it would be typed. */
function shown(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}

/** npm's placeholder is no test. */
function hasTestScript(manifest: string | undefined): boolean {
  const scripts = packageJson(manifest ?? '')?.['scripts'];
  const script: unknown = (scripts as { test?: unknown } | null | undefined)?.test;
  return typeof script === 'string' && script.trim() !== '' && !script.includes('no test specified');
}

function python({ manifests }: TestSigns, paths: ReadonlySet<string>): string[][] {
  const all = [...paths];
  const atRoot = all.some((path) => /^test[^/]*\.py$/.test(path));
  const inTests = all.some((path) => /^tests\/(?:.*\/)?test[^/]*\.py$/.test(path));
  const pytest =
    paths.has('pytest.ini') ||
    paths.has('conftest.py') ||
    paths.has('tests/conftest.py') ||
    /^\[(?:tool:)?pytest\]/m.test(manifests.get('setup.cfg') ?? '') ||
    /^\[pytest\]/m.test(manifests.get('tox.ini') ?? '') ||
    /\bpytest\b/.test(
      `${manifests.get('pyproject.toml') ?? ''}\n${manifests.get('requirements-dev.txt') ?? ''}`,
    );
  if (pytest) return [['python3', '-m', 'pytest']];
  const unittest = ['python3', '-m', 'unittest', 'discover'];
  if (inTests && !paths.has('tests/__init__.py')) return [[...unittest, '-s', 'tests']];
  return atRoot || inTests ? [unittest] : [];
}
