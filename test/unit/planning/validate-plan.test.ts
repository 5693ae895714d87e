import { describe, expect, it } from 'vitest';
import type { PlanProposal } from '../../../src/agents/port.ts';
import { type PlanFacts, validatePlan } from '../../../src/planning/validate-plan.ts';

const files = [
  'README.md',
  'app/[id]/page.ts',
  'app/i/page.ts',
  'package.json',
  'packages/api/src/a.ts',
  'packages/api/src/b.ts',
  'packages/api/test/a.test.ts',
  'packages/web/src/a.ts',
  '.github/workflows/ci.yml',
];
const facts: PlanFacts = {
  files,
  maxRows: 3,
  protection: (path) => (path.startsWith('.github/') ? 'never' : /\.test\.ts$/.test(path) ? 'tests' : null),
  collisions: 'fault',
};

type Row = PlanProposal['rows'][number];
function row(title: string, writes: string[], over: Partial<Row> = {}): Row {
  return { title, goal: 'g', writes, inputs: [], depends_on: [], verification: 'v', ...over };
}
function check(rows: readonly Row[], over: Partial<PlanFacts> = {}) {
  return validatePlan({ contract: '', rows }, { ...facts, ...over });
}

describe('a plan is valid when', () => {
  it.each<[string, Row[]]>([
    ['its rows write different packages', [row('a', ['packages/api/**']), row('b', ['packages/web/**'])]],
    ['they write different new files', [row('a', ['src/x.ts']), row('b', ['src/y.ts'])]],
    ['they write files of different kinds', [row('a', ['**/*.md']), row('b', ['packages/**/*.ts'])]],
    [
      'one writes a path with brackets that exists, the other what it would match as a glob',
      [row('a', ['app/[id]/page.ts']), row('b', ['app/i/page.ts'])],
    ],
    ['a directory with brackets is in a glob', [row('a', ['app/[id]/**']), row('b', ['app/i/**'])]],
    [
      'rows of one scope are ordered, over a third',
      [
        row('a', ['packages/api/**']),
        row('b', ['packages/web/**'], { depends_on: [0] }),
        row('c', ['packages/api/src/a.ts'], { depends_on: [1] }),
      ],
    ],
    ['a protected file is named', [row('a', ['packages/api/test/a.test.ts'])]],
    ['a glob has protected files among others', [row('a', ['packages/api/**'])]],
    ['a new file has brackets in its name', [row('a', ['app/[slug]/page.ts'])]],
    ['it is one row for everything', [row('a', ['**'])]],
  ])('%s', (_, rows) => {
    expect(check(rows)).toMatchObject({ rows: rows.map(({ title, writes }) => ({ title, writes })) });
  });

  it('each row says what it covers, without repetitions', () => {
    const { rows = [] } = check([
      row(' a \n b ', ['./packages/web/**', 'packages/web/**'], { inputs: ['./README.md', 'README.md'] }),
    ]) as { rows?: readonly object[] };
    expect(rows).toEqual([
      {
        title: 'a b',
        goal: 'g',
        writes: ['packages/web/**'],
        inputs: ['README.md'],
        dependsOn: [],
        needsSuccess: false,
        verification: 'v',
        scope: expect.objectContaining({ covers: ['packages/web/src/a.ts'] }),
      },
    ]);
  });
});

describe('a plan is refused, in words that name the fault, when', () => {
  it.each<[string, Row[], RegExp]>([
    ['it has no rows', [], /no rows/],
    [
      'it has too many',
      ['a', 'b', 'c', 'd'].map((title) => row(title, [`${title}.ts`])),
      /4 rows; at most 3/,
    ],
    ['a title is empty', [row(' ', ['a'])], /title is empty/],
    ['a title is long', [row('x'.repeat(101), ['a'])], /more than 100 characters/],
    ['two titles are alike', [row('a', ['x']), row('A', ['y'])], /row 1 \("A"\): the title is that of row 0/],
    ['a goal is empty', [row('a', ['x'], { goal: ' ' })], /goal is empty/],
    ['a row cannot be verified', [row('a', ['x'], { verification: '\n' })], /verification is empty/],
    ['a row may write nothing', [row('a', [])], /writes is empty/],
    ['a pattern is empty', [row('a', [''])], /empty pattern/],
    ['a path is absolute', [row('a', ['/etc/passwd'])], /"\/etc\/passwd" is absolute/],
    ['a path is absolute elsewhere', [row('a', ['C:\\x'])], /is absolute/],
    ['a path leads out', [row('a', ['packages/../../x'])], /has "\.\."/],
    ['a path has empty segments', [row('a', ['a//b'])], /empty or "\." segment/],
    ['a path is in .git', [row('a', ['.GIT/hooks/x'])], /\.git/],
    ['a pattern is a negation', [row('a', ['!README.md'])], /negation/],
    ['a directory stands for its files', [row('a', ['packages/api'])], /write "packages\/api\/\*\*"/],
    ['a glob matches nothing', [row('a', ['lib/**'])], /"lib\/\*\*" matches no file/],
    ['a glob is there for protected files', [row('a', ['**/*.test.ts'])], /protected files alone/],
    ['people alone change a file', [row('a', ['.github/workflows/ci.yml'])], /people alone/],
    ['an input is not there', [row('a', ['x'], { inputs: ['src/nope.ts'] })], /"src\/nope.ts" is no file/],
    ['a row depends on itself', [row('a', ['x'], { depends_on: [0] })], /depends on itself/],
    ['a dependency is not there', [row('a', ['x'], { depends_on: [7] })], /row 7, which does not exist/],
    [
      'rows depend on each other',
      [row('a', ['x'], { depends_on: [1] }), row('b', ['y'], { depends_on: [0] })],
      /in a circle: 0 -> 1 -> 0/,
    ],
    [
      'scopes share a file',
      [row('a', ['packages/**']), row('b', ['**/a.ts'])],
      /rows 0 and 1 may both write "packages\/api\/src\/a.ts"/,
    ],
    [
      'scopes share a file that is still to come',
      [row('a', ['packages/api/**']), row('b', ['packages/api/new.ts'])],
      /rows 0 and 1 may both write the same new file/,
    ],
    [
      'rows are ordered, but not these two',
      [
        row('a', ['packages/api/**']),
        row('b', ['README.md']),
        row('c', ['packages/api/**'], { depends_on: [1] }),
      ],
      /rows 0 and 2/,
    ],
  ])('%s', (_, rows, fault) => {
    const result = check(rows);
    expect('faults' in result ? result.faults : []).toEqual([expect.stringMatching(fault)]);
  });

  it('there are several faults: all are named at once', () => {
    const result = check([row('', [], { verification: '' }), row('b', ['/x'], { inputs: ['y'] })]);
    expect('faults' in result ? result.faults.length : 0).toBe(5);
  });

  it('unless collisions are to be ordered: then the later row waits, and needs no success', () => {
    const rows = [
      row('a', ['packages/**']),
      row('b', ['**/a.ts']),
      row('c', ['README.md'], { depends_on: [0] }),
    ];
    expect(check(rows, { collisions: 'order' })).toMatchObject({
      rows: [
        { dependsOn: [], needsSuccess: false },
        { dependsOn: [0], needsSuccess: false },
        { dependsOn: [0], needsSuccess: true },
      ],
    });
  });
});
