import { describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { listFiles } from '../../../src/planning/list-files.ts';
import { planFix } from '../../../src/planning/plan-fix.ts';
import { fixFacts, plannerOf, proposedRow } from './fix-facts.ts';

const disjoint = [proposedRow('a', ['a/**']), proposedRow('b', ['b/**'], { depends_on: [0] })];
const overlapping = [proposedRow('a', ['**/*.ts']), proposedRow('b', ['b/**'])];
const broken = [proposedRow('a', ['/abs'])];
const plan = (rows: typeof disjoint, contract = '') => ({ contract, rows });

function outline({ rows }: Awaited<ReturnType<typeof planFix>>) {
  return rows.map((row) => [row.title, row.kind, row.waitsFor, row.dependsOn, row.matrix.writes]);
}
const merging = (rows: number[]) => ['merge and verify', 'integrate', 'end', rows, []];

describe('the plan of a fix', () => {
  it('is what the model proposes, with the row that merges and verifies at its end', async () => {
    const { propose, asked } = plannerOf(plan(disjoint, 'Call it `tidy`.'));
    const made = await planFix(fixFacts({ propose }));
    expect(outline(made)).toEqual([
      ['a', 'agent', 'success', [], ['a/**']],
      ['b', 'agent', 'success', [0], ['b/**']],
      merging([0, 1]),
    ]);
    expect(made.contract).toContain('## Agreed for this change\n\nCall it `tidy`.');
    expect(made.rows.map((row) => row.agent)).toEqual(['fixer', 'fixer', '']);
    expect(made.rows[0]?.matrix).toEqual({
      goal: 'do a',
      background: expect.stringMatching(/```text\ntidy up\n```[\s\S]*```text\nTitle: A title\n\nA body\n```/),
      inputs: [],
      writes: ['a/**'],
      output: expect.any(String),
      constraints: expect.arrayContaining([expect.stringContaining('scope')]),
      verification: 'tests',
      limits: { wallMs: 900_000, idleMs: 60_000, turns: 30, tokens: 200_000 },
    });
    expect(asked.map(({ request }) => ({ ...request, signal: null }))).toEqual([
      {
        taskId: 'task-1',
        instruction: 'tidy up',
        subject: 'A title\n\nA body',
        files: 'README.md\na/x.ts\nb/y.ts',
        conventions: '',
        maxRows: 40,
        signal: null,
      },
    ]);
  });

  it('is asked for once more with the faults of the first', async () => {
    const { propose, asked } = plannerOf(plan(broken), plan(disjoint));
    expect(outline(await planFix(fixFacts({ propose })))).toHaveLength(3);
    expect(asked.map(({ faults }) => faults)).toEqual([[], [expect.stringContaining('"/abs" is absolute')]]);
  });

  it.each([
    ['the second has them, too', plan(overlapping)],
    ['no second one comes', new PatchfleetError('model_nonsense', 'no plan in 3 answers')],
  ])('orders rows that collide where %s', async (_, second) => {
    const { propose } = plannerOf(plan(overlapping), second);
    expect(outline(await planFix(fixFacts({ propose })))).toEqual([
      ['a', 'agent', 'success', [], ['**/*.ts']],
      ['b', 'agent', 'end', [0], ['b/**']],
      merging([0, 1]),
    ]);
  });

  it.each([
    ['two plans do not hold', [plan(broken), plan(broken)]],
    ['no plan can be read', [new PatchfleetError('model_nonsense', 'text alone')]],
    ['the files do not fit the model', [new PatchfleetError('context_exceeded', 'too long')]],
  ])('is one row for a small repository where %s', async (_, answers) => {
    const { propose } = plannerOf(...answers);
    const made = await planFix(fixFacts({ propose }));
    expect(outline(made)).toEqual([['the whole repository', 'agent', 'success', [], ['**']], merging([0])]);
  });

  it('does not hide that the model cannot be reached', async () => {
    const { propose } = plannerOf(new PatchfleetError('model_unavailable', 'HTTP 500'));
    await expect(planFix(fixFacts({ propose }))).rejects.toMatchObject({ code: 'model_unavailable' });
  });

  it('is cut by packages where no model plans, with what is outside of them in a row of its own', async () => {
    const files = [
      ...Array.from({ length: 40 }, (_, index) => `packages/[a]/src/${index}.ts`),
      'packages/[a]/package.json',
      'packages/[a]/nested/package.json',
      'packages/b/go.mod',
      'docs/x.md',
      '.github/ci.yml',
      'package.json',
    ];
    const made = await planFix(fixFacts({ files }));
    expect(outline(made)).toEqual([
      ['packages/[a]', 'agent', 'success', [], ['packages/[a]/**']],
      ['packages/b', 'agent', 'success', [], ['packages/b/**']],
      ['what is outside of the packages', 'agent', 'success', [], ['*', 'docs/**']],
      merging([0, 1, 2]),
    ]);
    expect(made.rows.map((row) => row.complexity)).toEqual([42, 1, 2, 1]);
    expect(made.rows[0]?.matrix.background).toContain('tidy up');
    const fix = { ...repositoryConfigSchema.parse({}).fix, max_subtasks: 2 };
    expect(outline(await planFix(fixFacts({ files }, { fix })))).toEqual([
      ['packages/[a]', 'agent', 'success', [], ['packages/[a]/**']],
      ['packages/b and 1 more', 'agent', 'success', [], ['packages/b/**', '*', 'docs/**']],
      merging([0, 1]),
    ]);
  });
});

describe('the list of files for a planner', () => {
  const files = [
    ...Array.from({ length: 50 }, (_, index) => `big/${index}.ts`),
    'README.md',
    'small/a.ts',
    'small/b.ts',
  ];

  it('folds the largest directories first, and says so', () => {
    expect(listFiles(files, 120)).toBe(
      [
        '[there are 53 files; directories stand for their files where a number follows]',
        'big/ (50 files)',
        'README.md',
        'small/a.ts',
        'small/b.ts',
      ].join('\n'),
    );
  });

  it('is cut where even that is too much', () => {
    const many = Array.from({ length: 1000 }, (_, index) => `d${index}/f`);
    const text = listFiles(many, 1000);
    expect(text.length).toBeLessThan(1200);
    expect(text).toMatch(/\[\d+ more lines are left out\]$/);
  });
});
