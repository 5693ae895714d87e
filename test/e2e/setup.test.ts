import { expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { smallRepository } from '../support/app/small-repository.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';

/** Brings a linter, as a package manager does, or fails as one. What it is told by is the lockfile. */
const install = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
if (readFileSync('package-lock.json', 'utf8').includes('leftpad')) {
  console.error('npm error 404 leftpad is not in this registry');
  process.exit(1);
}
mkdirSync('node_modules/lint', { recursive: true });
writeFileSync('node_modules/lint/run.mjs', \`
import { readFileSync } from 'node:fs';
for (const path of process.argv.slice(2))
  readFileSync(path, 'utf8').split('\\\\n').forEach((line, index) => {
    if (line.includes('debugger')) console.log(path + ':' + (index + 1) + ':1: error: debugger is left over');
  });
\`);
`;
const repositoryFile = `setup:
  commands: [[node, tools/install.mjs]]
`;
const lint = (name: string) => ({
  ...{ name, kind: 'command', format: 'lines' },
  command: ['node', 'node_modules/lint/run.mjs', '{files}'],
});

it('the dependencies of a repository are there for its agents; where they cannot be had it is said once', async () => {
  await using world = await startWorld({
    files: {
      ...smallRepository,
      '.gitignore': 'node_modules/\n',
      'package-lock.json': '{}\n',
      'tools/install.mjs': install,
      '.github/patchfleet.yml': repositoryFile,
    },
    operator: { agents: [lint('one'), lint('two')] },
    env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', MODEL: '' },
  });
  const { github, repository } = world;
  const page = { 'src/page.js': 'export function page() {\n  debugger;\n}\n' };
  const good = await github.openPullRequest(repository, { branch: 'good', files: page });
  const found = await untilDone(world, good.headSha);
  expect(found).toMatchObject({ conclusion: 'failure' });
  expect(found.annotations.map(({ path, start_line: line }) => `${path}:${line}`)).toContain('src/page.js:2');

  const files = { ...page, 'package-lock.json': '{"leftpad": "1"}\n' };
  const bad = await github.openPullRequest(repository, { branch: 'bad', files });
  const run = await untilDone(world, bad.headSha);
  await untilIdle(world);
  expect(run).toMatchObject({ conclusion: 'failure', title: 'The review failed: all 2 shards' });
  const said = run.summary?.split('leftpad is not in this registry') ?? [];
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(/- 2 shards \(.*\(one\), .*\(two\)\): The setup of the repository failed/);
  await assertStrict(world);
});
