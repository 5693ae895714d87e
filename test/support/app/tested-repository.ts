import type { Files } from '../github/commits.ts';
import type { BehaviourInput } from '../model/behaviour.ts';

/** A repository whose tests pass, small enough that a change of it is one or two rows. */
export const testedRepository: Files = {
  'README.md': '# Small\n',
  'package.json': `${JSON.stringify({ name: 'small', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/add.js': 'export function add(a, b) {\n  return a + b;\n}\n',
  'src/greet.js': "export function greet(name) {\n  return 'Hello ' + name;\n}\n",
  'test/add.test.js': testOf('add', 'adds', 'equal(add(1, 2), 3)'),
  'test/greet.test.js': testOf('greet', 'says the name', "equal(greet('Ada').endsWith('Ada'), true)"),
};

/** A test file for a module of one function. */
export function testOf(name: string, title: string, statement: string): string {
  return `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { ${name} } from '../src/${name}.js';

test('${name} ${title}', () => {
  ${statement};
});
`;
}

/** A row that may write these files; its goal is its title, by which fixes are told apart. */
export function row(title: string, ...writes: string[]) {
  return { title, goal: `${title}.`, writes, inputs: writes.filter((path) => path.startsWith('src/')) };
}

/** A file of this repository changed so that its tests still pass. */
export const goodFixes = {
  add: { path: 'src/add.js', find: 'a + b', replace: 'b + a' },
  greet: { path: 'src/greet.js', find: 'Hello', replace: 'Good day,' },
} as const;

/** A file of this repository changed so that its test fails. */
export const badFixes = {
  add: { path: 'src/add.js', find: 'a + b', replace: 'a - b' },
  greet: { path: 'src/greet.js', find: "'Hello ' + name", replace: "'Hello'" },
} as const;

/** Two rows, one for each file. */
export const twoRows: NonNullable<BehaviourInput['plans']> = [
  { contract: 'Names stay.', rows: [row('Sum better', 'src/add.js'), row('Greet better', 'src/greet.js')] },
];
