import { expect, it } from 'vitest';
import { divideRow } from '../../../src/domain/divide.ts';
import type { MatrixRow } from '../../../src/domain/matrix.ts';

const row: MatrixRow = {
  goal: 'Rename the helper.',
  background: 'asked for',
  inputs: ['docs/naming.md', 'src/api/a.ts', 'src/ui/c.ts'],
  writes: ['src/api/a.ts', 'src/api/b.ts', 'src/ui/c.ts', 'src/ui/new.ts', 'src/ui/parts/d.ts'],
  output: 'o',
  constraints: ['c'],
  verification: 'v',
  limits: { wallMs: 1, idleMs: 2, turns: 3, tokens: 4 },
};

it('cuts between directories, and tells each part its number and its files', () => {
  expect(divideRow(row)).toEqual([
    {
      title: 'part 1/2',
      matrix: {
        ...row,
        goal: 'Rename the helper.\n\nPart 1 of 2 of this row: only "src/api/a.ts", "src/api/b.ts".',
        inputs: ['docs/naming.md', 'src/api/a.ts'],
        writes: ['src/api/a.ts', 'src/api/b.ts'],
      },
      share: 0.4,
    },
    {
      title: 'part 2/2',
      matrix: {
        ...row,
        goal: 'Rename the helper.\n\nPart 2 of 2 of this row: only "src/ui/c.ts", "src/ui/new.ts", "src/ui/parts/d.ts".',
        inputs: ['docs/naming.md', 'src/ui/c.ts'],
        writes: ['src/ui/c.ts', 'src/ui/new.ts', 'src/ui/parts/d.ts'],
      },
      share: 0.6,
    },
  ]);
});

it('cuts by weight where it is known', () => {
  const parts = divideRow(row, new Map([['src/api/a.ts', 12]]));
  expect(parts.map(({ matrix, share }) => [matrix.writes, share])).toEqual([
    [['src/api/a.ts'], 0.75],
    [['src/api/b.ts', 'src/ui/c.ts', 'src/ui/new.ts', 'src/ui/parts/d.ts'], 0.25],
  ]);
});

it('keeps a glob whole, with the paths it covers', () => {
  const parts = divideRow({ ...row, writes: ['lib/**', 'lib/a.ts', 'src/x.ts'] });
  expect(parts.map(({ matrix }) => matrix.writes)).toEqual([['lib/**', 'lib/a.ts'], ['src/x.ts']]);
});

it('takes a path that exists by its name, whatever it looks like', () => {
  const pages = ['app/[id]/page.tsx', 'app/i/page.tsx'];
  const parts = divideRow({ ...row, inputs: pages, writes: pages });
  expect(parts.map(({ matrix }) => matrix.writes)).toEqual([['app/[id]/page.tsx'], ['app/i/page.tsx']]);
});

it('leaves whole what is one file, one glob, or nothing', () => {
  expect(divideRow({ ...row, writes: ['src/a.ts'] })).toEqual([]);
  expect(divideRow({ ...row, writes: ['src/**'] })).toEqual([]);
  expect(divideRow({ ...row, writes: [], inputs: [] })).toEqual([]);
});
