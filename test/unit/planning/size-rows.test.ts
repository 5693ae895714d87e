import { describe, expect, it } from 'vitest';
import { shapeOf } from '../../../src/planning/complexity.ts';
import { sizeRows } from '../../../src/planning/size-rows.ts';
import { newRow } from '../../support/tasks.ts';
import { makeChange } from './make-change.ts';

const bounds = { baseMib: 512, ceilingMib: 4096 };
const tree = { files: 100, packages: 1 };
const rows = [newRow('a'), newRow('merge', { kind: 'integrate', waitsFor: 'end', dependsOn: [0] })];

describe('the size of rows', () => {
  it('is the operator’s for what needs no more: nothing is said of it', () => {
    expect(sizeRows(rows, 'fix', { tree, peaksMib: [] }, bounds)).toEqual(rows);
    expect(sizeRows(rows, 'batch', { tree, peaksMib: [300] }, bounds)).toEqual(rows);
  });

  it('is what verifications needed, for rows of agents and those that merge', () => {
    const sized = sizeRows(rows, 'fix', { tree, peaksMib: [700, 600] }, bounds);
    expect(sized).toEqual(rows.map((row) => ({ ...row, memoryMib: 1024, weight: 2 })));
  });

  it('of a review goes by what is read, whatever verifications needed', () => {
    const large = newRow('large', { shape: { lines: 40_000, nesting: 3, imports: 10 } });
    const sized = sizeRows([newRow('small'), large], 'review', { tree, peaksMib: [3000] }, bounds);
    expect(sized).toEqual([newRow('small'), { ...large, memoryMib: 1024, weight: 2 }]);
  });

  it('of a triage is nothing', () => {
    expect(sizeRows(rows, 'triage', { tree, peaksMib: [9000] }, bounds)).toEqual(rows);
  });

  it('is refused where it never fits', () => {
    expect(() => sizeRows(rows, 'fix', { tree, peaksMib: [9000] }, bounds)).toThrow(
      expect.objectContaining({ code: 'memory_ceiling' }),
    );
  });
});

it('the shape of a change is its lines, their deepest level and their imports', () => {
  const text = ['import a from "a";', 'if (a) {', '  for (;;) {', '    go();', '  }', '}'];
  const one = makeChange('a.js', text);
  expect(shapeOf([one, makeChange('b.js', ['x();'])])).toEqual({ lines: 7, nesting: 2, imports: 1 });
  expect(shapeOf([])).toEqual({ lines: 0, nesting: 0, imports: 0 });
});
