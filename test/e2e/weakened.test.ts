import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, leftOutOf, ownPulls } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { goodFixes, row, testedRepository, testOf } from '../support/app/tested-repository.ts';
import { startWorld, type World } from '../support/app/world.ts';

/** Programs write where the tools of an agent refuse to. */
const writing = (path: string, content: string) => [
  'node',
  '-e',
  `require('node:fs').mkdirSync(require('node:path').dirname(${JSON.stringify(path)}), { recursive: true });
   require('node:fs').writeFileSync(${JSON.stringify(path)}, ${JSON.stringify(content)})`,
];
const passing = "import { test } from 'node:test';\ntest('it works', () => {});\n";
const manifest = JSON.stringify({ name: 'small', type: 'module', scripts: { test: 'true' } });

/** Each row breaks its own file, and sees to it in another way that no test says so. */
const cheats = [
  { title: 'Empty the test', run: writing('test/f0.test.js', passing), refused: 'test/f0.test.js' },
  { title: 'Remove the test', run: ['rm', 'test/f1.test.js'], refused: 'test/f1.test.js' },
  { title: 'Rename the test', run: ['mv', 'test/f2.test.js', 'test/f2.js'], refused: 'test/f2.test.js' },
  { title: 'Change the script', run: writing('package.json', manifest), refused: 'package.json' },
  {
    title: 'Configure a runner',
    run: writing('vitest.config.js', 'export default {};\n'),
    refused: 'vitest.config.js',
  },
  { title: 'Configure npm', run: writing('.npmrc', 'node-options=--test-only\n'), refused: '.npmrc' },
  {
    title: 'Change a workflow',
    run: writing('.github/workflows/ci.yml', 'on: []\n'),
    refused: '.github/workflows/ci.yml',
  },
  { title: 'Hope for the best', run: ['true'], refused: null },
];
const modules = cheats.map((_, index) => `f${index}`);
const files = {
  ...testedRepository,
  ...Object.fromEntries(
    modules.flatMap((name) => [
      [`src/${name}.js`, `export const ${name} = () => 42;\n`],
      [`test/${name}.test.js`, testOf(name, 'is right', `equal(${name}(), 42)`)],
    ]),
  ),
};

/** A line of the reason says that the file is protected. */
function names(reason: string, path: string): boolean {
  return reason.split('\n').some((line) => line.startsWith(`${path}: `) && line.endsWith('(protected)'));
}

let world: World;

beforeAll(async () => {
  world = await startWorld({ files, operator: { limits: { verification_reruns: 0 } } });
  await world.github.setPermission(world.repository, 'wilma', 'write');
});
afterAll(() => world.close());

describe('an agent that weakens what would show its fault', () => {
  it('does not pass; the work of the others does', async () => {
    const { github, repository, model } = world;
    model.configure({
      plans: [
        {
          rows: [
            ...cheats.map(({ title }, index) => row(title, `src/f${index}.js`)),
            row('Greet better', 'src/greet.js'),
          ],
        },
      ],
      fixes: [
        ...cheats.flatMap(({ title, run }, index) => [
          { when: `${title}.`, path: `src/f${index}.js`, find: '42', replace: '41' },
          { when: `${title}.`, run },
        ]),
        { when: 'Greet better.', ...goodFixes.greet },
      ],
    });
    const issue = await github.openIssue(repository, { title: 'Sum', body: 'Sum.', author: 'otto' });
    await ask(world, issue.number, '/patchfleet fix it all');
    expect(await leftOutOf(world)).toEqual(
      cheats.map(({ title, refused }, index) => ({
        title,
        code: refused === null ? 'verification' : 'patch_refused',
        reason:
          refused === null
            ? expect.stringContaining(`f${index} is right`)
            : expect.toSatisfy((reason: string) => names(reason, refused)),
      })),
    );
    const [pull, ...others] = await ownPulls(world);
    expect(others).toEqual([]);
    const branch = pull?.headRef ?? '';
    expect(await github.fileAt(repository, branch, 'src/greet.js')).toContain('Good day');
    for (const [path, content] of Object.entries(files)) {
      if (path !== 'src/greet.js') expect(await github.fileAt(repository, branch, path), path).toBe(content);
    }
    await assertStrict(world);
  });
});
