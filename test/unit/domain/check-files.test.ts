import { describe, expect, it } from 'vitest';
import { filesOfChecks } from '../../../src/domain/check-files.ts';

const files = new Set([
  'run.mjs',
  'scripts/check.sh',
  'scripts/hooks.mjs',
  'src/index.js',
  'api/tools/t.py',
  'tools/t.py',
]);
const of = (argv: string[], scripts: Record<string, string> = {}, cwd = '') =>
  filesOfChecks({
    commands: [{ name: argv.join(' '), argv, cwd }],
    manifestAt: (path) => (path === 'package.json' ? JSON.stringify({ scripts }) : null),
    exists: (path) => files.has(path),
  });

describe('files that the checks run by name', () => {
  it.each<[string, string[], string[]]>([
    ['a program', ['./scripts/check.sh'], ['scripts/check.sh']],
    ['what an interpreter is given', ['node', '--test', './run.mjs', 'src/index.js'], ['run.mjs']],
    ['what is loaded before', ['node', '--import=./scripts/hooks.mjs', '--test'], ['scripts/hooks.mjs']],
    [
      'what is loaded before, apart',
      ['node', '-r', './scripts/hooks.mjs', 'run.mjs'],
      ['run.mjs', 'scripts/hooks.mjs'],
    ],
    [
      'a line of shell',
      ['sh', '-c', 'CI=1 bash scripts/check.sh --all && node run.mjs'],
      ['run.mjs', 'scripts/check.sh'],
    ],
    ['not what is looked at', ['eslint', 'src/index.js'], []],
    ['nothing outside', ['node', '/run.mjs'], []],
  ])('%s', (_, argv, expected) => expect(of(argv)).toEqual(expected));

  it.each([
    [['node', '--run', 'test']],
    [['npm', 'test']],
    [['npm', 'run', 'test']],
    [['pnpm', '-s', 'test']],
  ])('are found behind %j', (argv) => {
    const scripts = {
      pretest: 'scripts/check.sh',
      test: 'npm run unit -- --all',
      unit: '"node" "run.mjs"; npm run test',
    };
    expect(of(argv, { ...scripts, start: 'node src/index.js' })).toEqual(['run.mjs', 'scripts/check.sh']);
  });

  it('are looked for where the command runs', () => {
    expect(of(['python3', 'tools/t.py'], {}, 'api')).toEqual(['api/tools/t.py']);
    expect(of(['python3', '../tools/t.py'], {}, 'api/')).toEqual(['tools/t.py']);
  });
});
