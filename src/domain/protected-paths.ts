import { packageJson } from './json-object.ts';

/**
 * Files by which a repository is checked or agents are told what to do: an agent that may change them can make
 * its own work pass. Globs as planning and merging read them: `**` crosses directories, names that begin with a
 * dot are no exception, case does not count.
 */

export type ProtectedKind = 'tests' | 'runner' | 'manifests' | 'lockfiles' | 'guidance' | 'ci';

interface ProtectedFiles {
  /** For people, as in "is one of the ...". */
  readonly title: string;
  /** Whether a row that names the file literally in its scope may change it. */
  readonly byName: boolean;
  readonly globs: readonly string[];
}

const anywhere = (...names: string[]) => names.map((name) => `**/${name}`);

export const protectedPaths = {
  /** What is run, and what it compares with. */
  tests: {
    title: 'tests',
    byName: true,
    globs: anywhere(
      ...['test/**', 'tests/**', '__tests__/**', 'spec/**', 'specs/**', 'e2e/**', 'cypress/**'],
      ...['testdata/**', 'fixtures/**', '__fixtures__/**', '__mocks__/**', '__snapshots__/**', '*.snap'],
      ...['*.test.*', '*.spec.*', '*.test-d.ts', '*_test.*', '*_spec.rb', 'test_*.py', 'conftest.py'],
      // What `node --test` and `python -m unittest` take for tests by themselves, and what others call theirs.
      ...[
        'test.*',
        'tests.*',
        '*-test.*',
        'test-*.*',
        '*-spec.*',
        'test*.py',
        '*.snapshot',
        'tap-snapshots/**',
      ],
      ...[
        'setupTests.*',
        'setup-tests.*',
        '*_helper.rb',
        '*.feature',
        'Test*.java',
        '*TestCase.java',
        '*Test.cs',
      ],
      ...['*Test.java', '*Tests.java', '*IT.java', '*Test.kt', '*Tests.cs', '*Test.php', '*Spec.scala'],
    ),
  },
  /** How it is run: runners, their plugins and preloads, compilers and linters, task files. */
  runner: {
    title: 'test runner and build configuration',
    byName: true,
    globs: anywhere(
      ...['vitest.config.*', 'vitest.workspace.*', 'vite.config.*', 'jest.config.*', 'jest.setup.*'],
      ...['.mocharc*', 'karma.conf.*', 'playwright.config.*', 'cypress.config.*', 'ava.config.*', '.taprc'],
      ...[
        'vitest.*.*',
        'vitest-*.*',
        'jest.*.*',
        'jest-setup.*',
        'setup-jest.*',
        '.jestrc*',
        'node.config.json',
      ],
      ...['wdio.conf.*', '.nycrc*', '.c8rc*', 'babel.config.*', '.babelrc*', '.swcrc', 'tsconfig*.json'],
      ...['jsconfig.json', 'eslint.config.*', '.eslintrc*', '.eslintignore', 'biome.json', 'biome.jsonc'],
      ...['.prettierrc*', '.prettierignore', 'nx.json', 'project.json', 'turbo.json', 'lerna.json'],
      ...['pnpm-workspace.yaml', '.pnpmfile.cjs', '.npmrc', '.yarnrc*', '.yarn/**', 'bunfig.toml', '.nvmrc'],
      ...[
        '.node-version',
        'pytest.ini',
        '.pytest.ini',
        'pytest.toml',
        '.pytest.toml',
        'tox.ini',
        'setup.cfg',
        'noxfile.py',
        'pyproject.toml',
      ],
      ...[
        '.coveragerc',
        '.env',
        '.env.test*',
        'mypy.ini',
        'ruff.toml',
        '.ruff.toml',
        '.flake8',
        'sitecustomize.py',
        '*.pth',
      ],
      ...['usercustomize.py', '.python-version', 'Makefile', 'GNUmakefile', '*.mk', 'justfile', '.justfile'],
      ...['Taskfile.y*ml', 'Rakefile', '.rspec', '.rubocop.yml', 'phpunit.xml*', 'build.gradle*', 'pom.xml'],
      ...['settings.gradle*', 'gradle.properties', 'gradle/**', 'gradlew', 'mvnw', '.mvn/**', 'build.rs'],
      ...[
        '.cargo/**',
        'rust-toolchain*',
        '.golangci.*',
        '.tool-versions',
        'mise.toml',
        '.envrc',
        'deno.jsonc',
      ],
    ),
  },
  /** Whole files; of `package.json` see {@link changesScripts}. */
  manifests: {
    title: 'package manifests',
    byName: true,
    globs: anywhere(
      ...['Cargo.toml', 'go.mod', 'go.work', 'setup.py', 'requirements*.txt', 'constraints*.txt', 'Pipfile'],
      ...['Gemfile', '*.gemspec', 'composer.json', 'deno.json', 'mix.exs'],
    ),
  },
  lockfiles: {
    title: 'lockfiles',
    byName: true,
    globs: anywhere(
      ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'],
      ...['deno.lock', 'Cargo.lock', 'go.sum', 'go.work.sum', 'poetry.lock', 'uv.lock', 'pdm.lock'],
      ...['Pipfile.lock', 'Gemfile.lock', 'composer.lock', 'mix.lock', 'flake.lock', 'gradle.lockfile'],
    ),
  },
  /** What tells this and other agents how to behave. */
  guidance: {
    title: 'instructions for agents',
    byName: false,
    globs: anywhere(
      ...['AGENTS.md', 'AGENTS.override.md', 'CLAUDE.md', 'CLAUDE.local.md', 'GEMINI.md', 'SKILL.md'],
      ...['copilot-instructions.md', '.cursor/**', '.cursorrules', '.windsurf/**', '.windsurfrules'],
      ...[
        '.clinerules',
        '.clinerules/**',
        '.claude/**',
        '.codex/**',
        '.gemini/**',
        '.continue/**',
        '.roo/**',
      ],
      ...['.aider*', '.mcp.json', '.junie/**', 'patchfleet.yml', 'patchfleet.yaml'],
    ),
  },
  /** What runs elsewhere with more rights than a sandbox has, and who must approve. */
  ci: {
    title: 'continuous integration and repository settings',
    byName: false,
    globs: [
      ...['.github/**', '.gitlab/**', '.gitlab-ci.yml', '.circleci/**', '.buildkite/**', '.woodpecker/**'],
      ...['.woodpecker.yml', '.drone.yml', '.travis.yml', 'appveyor.yml', '.appveyor.yml', 'Jenkinsfile'],
      ...['azure-pipelines*.yml', '.azure-pipelines/**', 'bitbucket-pipelines.yml', 'cloudbuild.y*ml'],
      ...['CODEOWNERS', 'docs/CODEOWNERS', '.husky/**', '.githooks/**', '.pre-commit-config.yaml'],
      ...['lefthook.yml', '.lefthook/**', '.devcontainer/**'],
    ],
  },
} as const satisfies Record<ProtectedKind, ProtectedFiles>;

/** Keys of a package.json by which its checks can be changed: what is run, the runner, and what stands in for it. */
const checkingKeys = [
  ...['scripts', 'jest', 'vitest', 'mocha', 'ava', 'tap', 'karma', 'nyc', 'c8', 'xo', 'standard', 'tsd'],
  ...['web-test-runner', 'wireit', 'nx', 'babel', 'eslintConfig', 'eslintIgnore', 'prettier', 'config'],
  ...['overrides', 'resolutions', 'pnpm', 'packageManager', 'workspaces', 'lint-staged', 'husky'],
];

/**
 * Whether a package.json, before and after (null: not there), differs in its scripts or the settings of a test
 * runner. What cannot be read is taken to differ, unless nothing was changed at all.
 */
export function changesScripts(before: string | null, after: string | null): boolean {
  if (before === after) return false;
  const [old, now] = [contentOf(before), contentOf(after)];
  if (old === null || now === null) return true;
  return checkingKeys.some((key) => canonical(old[key]) !== canonical(now[key]));
}

const contentOf = (text: string | null) => (text === null ? {} : packageJson(text));

/** The order of keys does not count. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'undefined'
  );
}

/**
 * How a file is protected: `never` changed by an agent; `tests` and `checks` (runners, manifests, lockfiles) where
 * a row names the very file; null: not at all.
 */
export type Protection = 'tests' | 'checks' | 'never' | null;
export type ProtectionOf = (path: string) => Protection;
