import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFixer } from '../../../src/agents/create-agent.ts';
import type { MatrixRow } from '../../../src/domain/matrix.ts';
import { protectionBy } from '../../../src/domain/protection.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';
import type { BehaviourInput } from '../../support/model/behaviour.ts';
import { createModelDouble, type ModelDouble } from '../../support/model/create-model-double.ts';
import { sampleFix } from '../../support/model/sample-fix.ts';
import { createSetting, type Setting } from '../sandbox/docker-setting.ts';
import { coder, gatewayTo, key } from './model-setting.ts';

const files = {
  'app/[id]/page.js': "export const title = 'Tea';\nexport const other = 1;\n",
  'app/i/page.js': 'untouched\n',
  'test/page.test.js': 'assert(false);\n',
  'old.js': 'gone soon\n',
};
const { signal } = new AbortController();
const check = { name: 'node --version', argv: ['node', '--version'], cwd: '' };

let double: ModelDouble;
let setting: Setting;
const open: Sandbox[] = [];
beforeAll(async () => {
  double = await createModelDouble();
  // Another image may be named, so that a branch can be tested beside what runs.
  const image = process.env['PATCHFLEET_TEST_IMAGE'];
  setting = createSetting(image === undefined ? {} : { image });
});
beforeEach(() => double.clearJournal());
afterAll(async () => {
  await Promise.all(open.map((sandbox) => sandbox.close()));
  await Promise.all([double.close(), setting.end()]);
});

async function fix(behaviour: BehaviourInput, row: Partial<MatrixRow>, in_?: Sandbox) {
  double.configure(behaviour);
  const sandbox = in_ ?? (await createLocalSandbox(files));
  open.push(sandbox);
  const assignment = sampleFix(row, sandbox, { checks: [check] });
  const fixer = createFixer(coder, {
    gateway: gatewayTo(double),
    repositoryInstructions: 'Use tabs.',
    protection: protectionBy([]),
  });
  const report = await fixer.fix(assignment);
  const harvest = await Promise.all(
    (await sandbox.harvest(signal)).map(async (entry) =>
      entry.kind === 'file'
        ? [entry.path, (await entry.read()).toString()]
        : [entry.path, entry.kind === 'deleted' ? null : entry.rule],
    ),
  );
  const log = assignment.log.map(
    (line) => JSON.parse(line) as { type: string; name?: string; result?: string },
  );
  const results = log
    .filter((entry) => entry.type === 'tool')
    .map((entry) => `${entry.name}: ${entry.result}`);
  return { report, changed: Object.fromEntries(harvest) as Record<string, string | null>, results, log };
}

describe('the fix agent, against a strict API', () => {
  const everything: BehaviourInput = {
    runChecks: true,
    fixes: [
      { path: 'app/[id]/page.js', find: "'Tea'", replace: "'Coffee'" },
      { path: 'app/[id]/new/config.js', content: 'export {};\n' },
      { path: 'old.js', delete: true },
    ],
  };
  const row = { inputs: ['app/[id]/page.js'], writes: ['app/[id]/**', 'old.js'] };
  const expected = {
    'app/[id]/page.js': "export const title = 'Coffee';\nexport const other = 1;\n",
    'app/[id]/new/config.js': 'export {};\n',
    'old.js': null,
  };

  it('edits, writes and deletes within its scope, runs the checks, and finishes', async () => {
    const { report, changed, results } = await fix(everything, row);
    expect(report).toEqual({ requested: [], summary: 'Changed 3 files as the row asks.', turns: 4 });
    expect(changed).toEqual(expected);
    expect(results.slice(2)).toEqual([
      'edit_file: edited at line 1',
      'write_file: written: 11 bytes',
      'delete_file: deleted',
      expect.stringMatching(/^run_command: exit code 0\nstdout:\nv\d+/),
      'finish: finished',
    ]);
    expect(double.journal().filter((entry) => entry.refusal !== null)).toEqual([]);
  });

  it('does the same in a real container', async () => {
    const { report, changed } = await fix(everything, row, await setting.acquire(files));
    expect(report.turns).toBe(4);
    expect(changed).toEqual(expected);
  });

  it('is refused what its row may not write, at once and with the reason, and then says that nothing changed', async () => {
    const { report, changed, results } = await fix(
      {
        fixes: [
          { outside: 'app/i/page.js', content: 'x' },
          { outside: 'test/page.test.js', content: 'assert(true);\n' },
          { outside: '../out.js', content: 'x' },
          { outside: '.github/workflows/ci.yml', content: 'x' },
        ],
      },
      { writes: ['app/[id]/**', 'test/**', '.github/**'] },
    );
    expect(results.slice(1, 5)).toEqual([
      'write_file: error: "app/i/page.js" is outside your scope; you may write: "app/[id]/**", "test/**", ".github/**"',
      expect.stringContaining('"test/page.test.js" is one of the tests and your row does not name it'),
      'write_file: error: the path must not contain ".."',
      expect.stringContaining('is changed by people alone'),
    ]);
    expect(changed).toEqual({});
    expect(report.summary).toBe('Nothing was to be changed. The inputs have nothing that the goal is about.');
  });

  it('may change a test that its row names', async () => {
    const { changed } = await fix(
      { fixes: [{ path: 'test/page.test.js', content: 'assert(true);\n' }] },
      { writes: ['test/page.test.js'] },
    );
    expect(changed).toEqual({ 'test/page.test.js': 'assert(true);\n' });
  });

  it('cannot keep a command from writing anywhere: what counts is the workspace', async () => {
    const { changed } = await fix(
      { fixes: [{ run: ['sh', '-c', 'echo weak > test/page.test.js'] }] },
      { writes: ['app/**'] },
    );
    expect(changed).toEqual({ 'test/page.test.js': 'weak\n' });
  });

  it('is shown the nearest text where an edit does not fit', async () => {
    const { results, changed } = await fix(
      {
        fixes: [
          { path: 'app/[id]/page.js', content: "export const title = 'Tee';\n" },
          everything.fixes?.[0] as never,
        ],
      },
      { inputs: ['app/[id]/page.js'], writes: ['app/[id]/page.js'] },
    );
    expect(results.find((result) => result.startsWith('edit_file'))).toMatch(/^edit_file: not edited: /);
    expect(changed).toEqual({ 'app/[id]/page.js': "export const title = 'Tee';\n" });
  });

  it('only acts on entries that fit its row', async () => {
    const fixes = [
      { when: 'Break the tests', path: '**/*.js', find: 'Tea', replace: 'Nothing' },
      { when: 'Another goal', path: '**/*.js', find: 'other', replace: 'another' },
    ];
    const { changed } = await fix({ fixes }, { ...row, goal: 'Break the tests.' });
    expect(changed).toEqual({
      'app/[id]/page.js': "export const title = 'Nothing';\nexport const other = 1;\n",
    });
  });

  it.each([
    ['error500', 'model_unavailable'],
    ['nonsense_text', 'model_nonsense'],
    ['quota', 'model_refused'],
  ] as const)('fails, with its log kept, when the model is in the mode %s', async (mode, code) => {
    double.configure({ mode });
    const sandbox = await createLocalSandbox(files);
    open.push(sandbox);
    const assignment = sampleFix(row, sandbox);
    const fixer = createFixer(coder, {
      gateway: gatewayTo(double),
      repositoryInstructions: '',
      protection: () => null,
    });
    await expect(fixer.fix(assignment)).rejects.toMatchObject({ code });
    expect(assignment.log.at(-1)).toContain(code);
    expect(assignment.log.join('\n')).not.toContain(key);
  });
});
