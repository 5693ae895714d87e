import type { Files } from '../github/commits.ts';
import type { BehaviourInput } from '../model/behaviour.ts';

/** A fix of a few small rows, for what is not about its size. */

/** Files that have a row each, `src/<name>.js`. */
export const valueNames = ['one', 'two', 'three'] as const;
export type ValueName = (typeof valueNames)[number];

/** Holds a passing test suite that takes no side on what the values are. Reviews are off: they are not the matter. */
export const fixRepository: Files = {
  'README.md': '# Values\n',
  'package.json': '{ "name": "values", "type": "module", "scripts": { "test": "node --test" } }\n',
  '.github/patchfleet.yml': 'review:\n  enabled: false\n',
  ...Object.fromEntries(
    valueNames.map((name) => [
      `src/${name}.js`,
      `export const value = 'old';\nexport const name = '${name}';\n`,
    ]),
  ),
  'test/values.test.js': [
    "import { equal } from 'node:assert/strict';",
    "import { test } from 'node:test';",
    ...valueNames.map((name) => `import * as ${name} from '../src/${name}.js';`),
    `for (const [key, module] of Object.entries({ ${valueNames.join(', ')} })) {`,
    "  test(key, () => equal([module.name, typeof module.value].join(' '), [key, 'string'].join(' ')));",
    '}',
    '',
  ].join('\n'),
};

/** Bytes that are no text: they go to GitHub as a blob of their own. */
const dotPath = 'assets/dot.bin';

/**
 * What the model plans and does: a row for each of `names` that gives the file the new value, and where `dot` is
 * true one more that writes a binary file.
 */
export function fixScript(
  value: string,
  { names = valueNames, dot = false }: { names?: readonly ValueName[]; dot?: boolean } = {},
): Pick<BehaviourInput, 'plans' | 'fixes'> {
  const rows = names.map((name) => ({
    title: `value ${name}`,
    goal: `Give the value ${name} its new text.`,
    writes: [`src/${name}.js`],
    inputs: [`src/${name}.js`],
  }));
  const dotRow = { title: 'the dot', goal: 'Draw the dot.', writes: [dotPath] };
  const bytes = Buffer.from(`\0${value}`).toString('base64');
  const draw = `const fs = require('fs'); fs.mkdirSync('assets', { recursive: true }); fs.writeFileSync('${dotPath}', Buffer.from('${bytes}', 'base64'))`;
  return {
    plans: [{ rows: dot ? [...rows, dotRow] : rows }],
    fixes: [
      { path: 'src/*.js', find: "'old'", replace: `'${value}'` },
      { when: 'Draw the dot.', run: ['node', '-e', draw] },
    ],
  };
}
