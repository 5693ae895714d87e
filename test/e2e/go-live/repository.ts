import { row, testedRepository, testOf } from '../../support/app/tested-repository.ts';
import { fixRepository, fixScript } from '../../support/fixes/small-fix.ts';
import type { BehaviourInput } from '../../support/model/behaviour.ts';

/** The repository of the go-live checks, and what the model plans and does in it. */

/** Files with a test each, and files whose values no test is about. No reviews: they are not the matter. */
export const files = {
  ...fixRepository,
  ...testedRepository,
  'src/half.js': 'export const half = (a) => a / 2;\n',
  'src/twice.js': 'export const twice = (a) => a * 2;\n',
  'test/half.test.js': testOf('half', 'halves', 'equal(half(4), 2)'),
  'test/twice.test.js': testOf('twice', 'doubles', 'equal(twice(4), 8)'),
};

/** One row. */
export const small: BehaviourInput = {
  plans: [{ rows: [row('Greet better', 'src/greet.js')] }],
  fixes: [{ path: 'src/greet.js', find: 'Hello', replace: 'Good day,' }],
};

/** Four rows, each of five turns: looks, works for a while, changes, checks, finishes. */
export const wide: BehaviourInput = {
  ...fixScript('new', { dot: true }),
  latencyMs: 300,
  fixMs: 1000,
  runChecks: true,
};

const wrong = { half: 'export const half = (a) => a / 3;\n', twice: 'export const twice = (a) => a * 3;\n' };
const right = {
  half: 'export const half = (a) => 0.5 * a;\n',
  twice: 'export const twice = (a) => a + a;\n',
};
const bothInputs = '- "src/half.js"\n- "src/twice.js"';

/**
 * Two rows that break a test at first. The one mends it as soon as it is told which test failed; the other only when
 * it has one file alone to see to.
 */
export const hard: BehaviourInput = {
  plans: [
    {
      rows: [
        row('Sum better', 'src/add.js'),
        {
          title: 'Better factors',
          goal: 'Better factors.',
          writes: ['src/half.js', 'src/twice.js'],
          inputs: ['src/half.js', 'src/twice.js'],
        },
      ],
    },
  ],
  fixes: [
    { path: 'src/add.js', content: 'export function add(a, b) {\n  return a - b;\n}\n' },
    {
      when: 'add adds',
      path: 'src/add.js',
      content: 'export function add(a, b) {\n  return b + a;\n}\n',
    },
    { path: 'src/half.js', content: right.half },
    { path: 'src/twice.js', content: right.twice },
    { when: bothInputs, path: 'src/half.js', content: wrong.half },
    { when: bothInputs, path: 'src/twice.js', content: wrong.twice },
  ],
};

/** Two rows whose agents wait for the model for as long as they are let. */
export const standing: BehaviourInput = {
  ...fixScript('never', { names: ['one', 'two'] }),
  mode: 'hang',
  only: 'Give the value',
};
