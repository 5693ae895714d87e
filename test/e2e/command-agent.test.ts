import { describe, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { smallRepository } from '../support/app/small-repository.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld } from '../support/app/world.ts';

/** Prints a line for each line with `debugger`, as linters do, and exits with 1 where there are some. */
const linter = `import { readFileSync } from 'node:fs';
let found = 0;
for (const path of process.argv.slice(2)) {
  readFileSync(path, 'utf8').split('\\n').forEach((line, index) => {
    const column = line.indexOf('debugger');
    if (column < 0) return;
    found += 1;
    console.log(\`\${path}:\${index + 1}:\${column + 1}: error: debugger is left over\`);
  });
}
process.exitCode = found > 0 ? 1 : 0;
`;

/** The same for \`alert\`, as SARIF. */
const sarif = `import { readFileSync } from 'node:fs';
const results = process.argv.slice(2).flatMap((path) =>
  readFileSync(path, 'utf8').split('\\n').flatMap((line, index) =>
    line.includes('alert(')
      ? [{
          ruleId: 'no-alert',
          level: 'warning',
          message: { text: 'alert is for debugging' },
          locations: [{ physicalLocation: { artifactLocation: { uri: path }, region: { startLine: index + 1 } } }],
        }]
      : []));
console.log(JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'alerts' } }, results }] }));
`;

const repositoryFile = `commands:
  - name: alerts
    kind: command
    command: [node, tools/alerts.mjs, '{files}']
    format: sarif
    files: ['src/**']
`;

describe('command agents', () => {
  it('review with no model at all, the operator’s and the repository’s, in lines and in SARIF', async () => {
    await using world = await startWorld({
      files: {
        ...smallRepository,
        'tools/lint.mjs': linter,
        'tools/alerts.mjs': sarif,
        '.github/patchfleet.yml': repositoryFile,
      },
      operator: {
        agents: [
          { name: 'lint', kind: 'command', command: ['node', 'tools/lint.mjs', '{files}'], format: 'lines' },
        ],
      },
      env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', MODEL: '' },
    });
    const { github, repository } = world;
    const pull = await github.openPullRequest(repository, {
      branch: 'change',
      files: {
        'src/page.js': 'export function page() {\n  debugger;\n  alert(1);\n}\n',
        'docs/x.md': 'debugger\n',
      },
    });
    const run = await untilDone(world, pull.headSha);
    await untilIdle(world);

    expect(run).toMatchObject({ conclusion: 'failure', title: '3 findings (2 errors, 1 warning)' });
    const [review] = await github.reviews(repository, pull.number);
    expect(review?.comments.map(({ path, line }) => `${path}:${line}`).toSorted()).toEqual([
      'docs/x.md:1',
      'src/page.js:2',
      'src/page.js:3',
    ]);
    expect(run.summary).toContain('no model calls');
    expect(world.model.journal()).toEqual([]);
    await assertStrict(world);
  });

  it('with more findings than one request takes: all are annotated, and shown inline or in the body', async () => {
    await using world = await startWorld({
      files: { ...smallRepository, 'tools/lint.mjs': linter },
      operator: {
        agents: [
          { name: 'lint', kind: 'command', command: ['node', 'tools/lint.mjs', '{files}'], format: 'lines' },
        ],
      },
      env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', MODEL: '' },
    });
    const { github, repository } = world;
    const lines = Array.from({ length: 120 }, (_, line) => `export const step${line} = () => { debugger; };`);
    const pull = await github.openPullRequest(repository, {
      branch: 'change',
      files: { 'src/steps.js': `${lines.join('\n')}\n` },
    });
    const run = await untilDone(world, pull.headSha);
    await untilIdle(world);

    expect(run).toMatchObject({ conclusion: 'failure', title: '120 findings (120 errors)' });
    expect(new Set(run.annotations.map((annotation) => annotation.start_line)).size).toBe(120);
    expect(run.annotations).toHaveLength(120);
    const reviews = await github.reviews(repository, pull.number);
    expect(reviews).toHaveLength(1);
    const counts = /Review\]\([^)]*\): (\d+) inline, (\d+) in the body/.exec(run.summary ?? '');
    expect(Number(counts?.[1])).toBe(reviews[0]?.comments.length);
    expect(Number(counts?.[1]) + Number(counts?.[2])).toBe(120);
    await assertStrict(world);
  });

  it('that fail make the check run fail and show how', async () => {
    await using world = await startWorld({
      files: smallRepository,
      operator: {
        limits: { retries: 0 },
        agents: [{ name: 'lint', kind: 'command', command: ['no-such-linter', '{files}'], format: 'lines' }],
      },
      env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', MODEL: '' },
    });
    const { github, repository } = world;
    const pull = await github.openPullRequest(repository, {
      branch: 'change',
      files: { 'src/page.js': 'export {};\n' },
    });
    const run = await untilDone(world, pull.headSha);
    await untilIdle(world);
    expect(run).toMatchObject({ conclusion: 'failure', title: 'The review failed: all 1 shard' });
    expect(run.summary).toContain('`command_failed`');
    expect(run.summary).toContain('no-such-linter');
    expect(await github.reviews(repository, pull.number)).toEqual([]);
    await assertStrict(world);
  });
});
