import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows } from '../support/app/data-directory.ts';
import { smallRepository } from '../support/app/small-repository.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';

/** What a registry has: a linter. */
const linter = `
import { readFileSync } from 'node:fs';
for (const path of process.argv.slice(2))
  readFileSync(path, 'utf8').split('\\n').forEach((line, index) => {
    if (line.includes('debugger')) console.log(path + ':' + (index + 1) + ':1: error: debugger is left over');
  });
`;

/**
 * Brings it by the proxy of its sandbox, as a package manager does, or fails as one. What it is told by is the lockfile.
 */
const install = (registry: string) => `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
if (readFileSync('package-lock.json', 'utf8').includes('leftpad')) {
  console.error('npm error 404 leftpad is not in this registry');
  process.exit(1);
}
const { hostname, port } = new URL(process.env.HTTP_PROXY);
const path = 'http://${registry}/lint.mjs';
const answer = await new Promise((resolve, reject) =>
  get({ hostname, port, path, headers: { host: '${registry}' } }, resolve).on('error', reject));
if (answer.statusCode !== 200) throw new Error(String(answer.statusMessage));
mkdirSync('node_modules/lint', { recursive: true });
writeFileSync('node_modules/lint/run.mjs', await text(answer));
`;
const repositoryFile = (registry: string) => `setup:
  commands: [[node, tools/install.mjs]]
  network:
    allow: ['${registry}']
`;
const lint = (name: string) => ({
  ...{ name, kind: 'command', format: 'lines' },
  command: ['node', 'node_modules/lint/run.mjs', '{files}'],
});

/** Gives the linter to whoever asks; where it listens. */
async function startRegistry(): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(linter);
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, asked };
}

it('the dependencies of a repository are there for its agents; where they cannot be had it is said once', async () => {
  const { port, asked } = await startRegistry();
  const registry = `localhost:${port}`;
  await using world = await startWorld({
    files: {
      ...smallRepository,
      '.gitignore': 'node_modules/\n',
      'package-lock.json': '{}\n',
      'tools/install.mjs': install(registry),
      '.github/patchfleet.yml': repositoryFile(registry),
    },
    operator: {
      agents: [lint('one'), lint('two')],
      sandbox: { network: { allow: [{ host: 'localhost', port, private: true }] } },
    },
    env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', MODEL: '' },
  });
  const { github, repository } = world;
  const page = { 'src/page.js': 'export function page() {\n  debugger;\n}\n' };
  const good = await github.openPullRequest(repository, { branch: 'good', files: page });
  const found = await untilDone(world, good.headSha);
  expect(found).toMatchObject({ conclusion: 'failure' });
  expect(found.annotations.map(({ path, start_line: line }) => `${path}:${line}`)).toContain('src/page.js:2');

  // Once for both agents, and in the record.
  expect(asked).toEqual(['/lint.mjs']);
  const audit = await queryRows<{ action: string; subject: string }>(
    world.databaseDir,
    `select action, subject from audit where action like 'egress.%' order by at`,
  );
  expect(audit).toEqual([
    { action: 'egress.allowed', subject: registry },
    { action: 'egress.closed', subject: expect.stringMatching(/^patchfleet-/) },
  ]);

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
