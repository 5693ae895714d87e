import fc from 'fast-check';
import { expect, it } from 'vitest';
import { admitRequested, type ForkRow } from '../../../src/domain/fork.ts';
import { pathGlob } from '../../../src/domain/path-glob.ts';
import { subtaskStatuses } from '../../../src/domain/task.ts';

const name = fc.constantFrom('a', 'b', '[id]', 'x.ts', 'x.md', 'ü');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const pattern = fc.oneof(
  path,
  path.map((one) => `${one}/**`),
  fc.constantFrom('*/x.ts', '**/*.md', 'a/*', 'b/'),
);
const writes = fc.array(pattern, { minLength: 1, maxLength: 3 });
const title = fc.constantFrom('one', 'two', 'ONE', 'a title');
const rows: fc.Arbitrary<ForkRow[]> = fc
  .array(fc.record({ status: fc.constantFrom(...subtaskStatuses), writes, title }), {
    minLength: 1,
    maxLength: 6,
  })
  .map((list) => list.map((row, index) => ({ ...row, id: `id${index}`, row: index })));
const requests = fc.array(
  fc.record({
    title,
    goal: fc.constantFrom('g', ''),
    writes,
    inputs: fc.constant([]),
    verification: fc.constant('v'),
  }),
  { maxLength: 6 },
);

function mayWrite(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.map((one) => pathGlob(one));
  return (one) => patterns.includes(one) || globs.some((matches) => matches(one));
}

it('rows that may run at the same time never write one path; what may be written twice is ordered', () => {
  fc.assert(
    fc.property(
      rows,
      requests,
      fc.integer({ min: 0, max: 12 }),
      fc.array(path),
      (given, asked, max, paths) => {
        const requester = { id: 'id0', row: 0, issue: null };
        const { accepted, refused } = admitRequested(asked, { requester, rows: given, maxRows: max });
        expect(accepted.length + refused.length).toBe(asked.length);

        const titles = accepted.map(({ requested }) => requested.title.toLowerCase());
        expect(new Set(titles).size).toBe(titles.length);
        expect(given.filter((row) => titles.includes(row.title.toLowerCase()))).toEqual([]);
        const counted = given.filter(({ status }) => status !== 'split').length;
        if (accepted.length > 0) expect(counted + accepted.length).toBeLessThanOrEqual(max);

        const ids = given.map(({ id }) => id);
        const candidates = [
          ...paths,
          ...asked.flatMap((row) => row.writes),
          ...given.flatMap((row) => row.writes),
        ];
        for (const [index, { requested, dependsOn }] of accepted.entries()) {
          // Only on rows that are there already, so that no circle can be.
          expect(ids).toEqual(expect.arrayContaining([...dependsOn]));
          const own = candidates.filter(mayWrite(requested.writes));
          for (const other of accepted.slice(index + 1))
            expect(own.filter(mayWrite(other.requested.writes))).toEqual([]);
          for (const row of given) {
            const both = own.some(mayWrite(row.writes));
            const open = row.status === 'waiting' || row.status === 'running';
            const after = dependsOn.includes(row.id);
            if (open && row.id !== requester.id) expect(both).toBe(false);
            if (both && (row.status === 'succeeded' || row.id === requester.id)) expect(after).toBe(true);
            if (after) expect(row.status === 'succeeded' || row.id === requester.id).toBe(true);
          }
        }
      },
    ),
    { numRuns: 1000 },
  );
});
