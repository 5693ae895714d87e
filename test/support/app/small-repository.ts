import type { Files } from '../github/commits.ts';

/** A repository small enough that its review is one shard, for what is not about size. */
export const smallRepository: Files = {
  'README.md': '# Small\n',
  'package.json': '{ "name": "small", "type": "module" }\n',
  'src/add.js': 'export const add = (a, b) => a + b;\n',
};

/** Line 2 of `src/run.js` has the fault `no-eval`. */
export const faultyChange: Files = {
  'src/run.js': 'export function run(text) {\n  return eval(text);\n}\n',
};

export const harmlessChange: Files = {
  'src/subtract.js': 'export const subtract = (a, b) => a - b;\n',
};
