import { describe, expect, it } from 'vitest';
import {
  filesOfRow,
  keysOf,
  type ListedFile,
  mostAlike,
  overlapOf,
  type ResultSource,
} from '../../../src/domain/result-key.ts';

const file = (path: string, blob = 'b1'): ListedFile => ({ path, mode: '100644', blob });
const source: ResultSource = {
  repositoryId: 7,
  row: {
    goal: 'Rename a to b',
    background: 'Issue #1 says so',
    writes: ['src/**'],
    inputs: ['README.md'],
    output: 'files',
    constraints: ['small'],
    verification: 'tests pass',
  },
  contract: 'names',
  files: [file('README.md'), file('src/a.js')],
  checks: [{ name: 'npm test', argv: ['npm', 'test'], cwd: '' }],
  agent: { name: 'coder', channel: 'default', model: 'm1', instructions: 'be brief' },
  instructions: 'tabs',
};
const keys = keysOf(source);

describe('the keys of a result', () => {
  it('are the same for the same work, whatever the order it is told in', () => {
    const { row, ...rest } = source;
    const again = { row: { ...row }, ...rest, files: source.files.toReversed() };
    expect(keysOf(again)).toEqual(keys);
    expect(keysOf(structuredClone(source))).toEqual(keys);
  });

  it.each<[string, Partial<ResultSource>]>([
    ['the repository', { repositoryId: 8 }],
    ['a file', { files: [file('README.md'), file('src/a.js', 'b2')] }],
    ['a further file', { files: [...source.files, file('src/b.js')] }],
    ['the mode of a file', { files: [file('README.md'), { ...file('src/a.js'), mode: '100755' }] }],
    ['the contract', { contract: 'other names' }],
    ['the checks', { checks: [] }],
    ['the model', { agent: { ...source.agent, model: 'm2' } }],
    ['the channel', { agent: { ...source.agent, channel: 'other' } }],
    ['the agent', { agent: { ...source.agent, name: 'other' } }],
    ['its instructions', { agent: { ...source.agent, instructions: '' } }],
    ['the conventions of the repository', { instructions: 'spaces' }],
    ['a constraint', { row: { ...source.row, constraints: [] } }],
    ['the scope', { row: { ...source.row, writes: ['src/a.js'] } }],
    ['the verification', { row: { ...source.row, verification: 'none' } }],
  ])('are others when %s is another, and so is the family', (_, change) => {
    const other = keysOf({ ...source, ...change });
    expect(other.key).not.toBe(keys.key);
    expect(other.family).not.toBe(keys.family);
  });

  it.each(['goal', 'background'] as const)('differ by the %s within one family', (field) => {
    const other = keysOf({ ...source, row: { ...source.row, [field]: 'something else' } });
    expect(other.key).not.toBe(keys.key);
    expect(other.family).toBe(keys.family);
  });
});

describe('the files of a row', () => {
  it('are those it may write and those it is to read, brackets taken as names where they are', () => {
    const tree = ['README.md', 'app/[id]/page.js', 'app/i/page.js', 'src/a.js', 'src/deep/b.js', 'x.js'].map(
      (path) => file(path),
    );
    const row = { writes: ['app/[id]/**', 'src/**', 'new.js'], inputs: ['README.md', 'gone.js'] };
    expect(filesOfRow(row, tree).map(({ path }) => path)).toEqual([
      'README.md',
      'app/[id]/page.js',
      'src/a.js',
      'src/deep/b.js',
    ]);
  });
});

describe('goals', () => {
  it.each([
    ['Rename a to b', 'rename A to B!', 1],
    ['one two three four', 'one two three five', 3 / 5],
    ['one', 'two', 0],
    ['', '', 0],
    ['Größe ändern', 'GRÖSSE ändern', 1 / 3],
  ])('%j and %j overlap', (a, b, overlap) => {
    expect(overlapOf(a, b)).toBeCloseTo(overlap);
    expect(overlapOf(b, a)).toBeCloseTo(overlap);
  });

  it('are alike from 0.6 on; the most alike is taken, the first of equals', () => {
    const goals = (...texts: string[]) => texts.map((goal, index) => ({ goal, index }));
    expect(mostAlike('one two three four', goals('one two six seven'))).toBeNull();
    expect(mostAlike('one two three four', goals('one two three five', 'three two one five'))?.index).toBe(0);
    expect(mostAlike('one two three four', goals('one two three five', 'one two three'))?.index).toBe(1);
    expect(mostAlike('one two three four', [])).toBeNull();
  });
});
