import type { Files } from '../github/commits.ts';

/** A repository whose tests pass, small enough that a change of it is one or two rows. */
export const testedRepository: Files = {
  'README.md': '# Small\n',
  'package.json': `${JSON.stringify({ name: 'small', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'src/add.js': 'export function add(a, b) {\n  return a + b;\n}\n',
  'src/greet.js': "export function greet(name) {\n  return 'Hello ' + name;\n}\n",
  'test/add.test.js': `import { equal } from 'node:assert/strict';
import { test } from 'node:test';
import { add } from '../src/add.js';

test('add adds', () => {
  equal(add(1, 2), 3);
});
`,
  'test/greet.test.js': `import { match } from 'node:assert/strict';
import { test } from 'node:test';
import { greet } from '../src/greet.js';

test('greet says the name', () => {
  match(greet('Ada'), /Ada/);
});
`,
};
