import { describe, expect, it } from 'vitest';
import { admitRequested, type ForkContext, type RequestedRow } from '../../../src/domain/fork.ts';

const requester = { id: 'asker', row: 0, issue: null };

function asked(title: string, writes: readonly string[], over: Partial<RequestedRow> = {}): RequestedRow {
  return { title, goal: 'a goal', writes, inputs: [], verification: 'tests pass', ...over };
}

function contextOf(rows: ForkContext['rows'], over: Partial<ForkContext> = {}): ForkContext {
  const own = { id: 'asker', row: 0, status: 'running' as const, writes: ['own.ts'], title: 'the asker' };
  return { requester, rows: [own, ...rows], maxRows: 10, ...over };
}

const open = {
  id: 'b',
  row: 1,
  status: 'running' as const,
  writes: ['src/api/**'],
  title: 'the api',
};

describe('a row that an agent asks for', () => {
  it('joins the task, in one spelling, when nobody else may write its files', () => {
    const given = asked('  docs:\n the names ', ['./docs/a.md', 'docs/a.md'], {
      inputs: ['./src/api/a.ts', '../secret', '/etc/passwd'],
    });
    expect(admitRequested([given], contextOf([open]))).toEqual({
      accepted: [
        {
          requested: asked('docs: the names', ['docs/a.md'], { inputs: ['src/api/a.ts'] }),
          dependsOn: [],
        },
      ],
      refused: [],
    });
  });

  it('is refused by name where it overlaps with an open row', () => {
    for (const status of ['running', 'waiting'] as const)
      expect(
        admitRequested([asked('more', ['src/*/new.ts'])], contextOf([{ ...open, status }])).refused,
      ).toEqual([
        { title: 'more', reason: 'it may write what row 2 ("the api") may write, which is not over' },
      ]);
  });

  it('comes after the finished rows whose files it may write, and after its requester', () => {
    const done = { ...open, status: 'succeeded' as const };
    const failed = { ...open, id: 'c', row: 2, status: 'failed' as const, title: 'failed' };
    const result = admitRequested([asked('more', ['src/api/a.ts', 'own.ts'])], contextOf([done, failed]));
    expect(result).toEqual({
      accepted: [{ requested: asked('more', ['src/api/a.ts', 'own.ts']), dependsOn: ['asker', 'b'] }],
      refused: [],
    });
  });

  it('is refused where it asks for what was asked for before it, or was done', () => {
    const done = { ...open, status: 'succeeded' as const };
    const result = admitRequested(
      [asked('one', ['lib/a.ts']), asked('two', ['lib/**']), asked('The API', ['src/api/b.ts'])],
      contextOf([done]),
    );
    expect(result.accepted.map(({ requested }) => requested.title)).toEqual(['one']);
    expect(result.refused).toEqual([
      { title: 'two', reason: 'it may write what "one", asked for before it, may write' },
      { title: 'The API', reason: 'row 2 of that title did it already' },
    ]);
  });

  it('gets a title of its own', () => {
    const result = admitRequested(
      [asked('the API', ['lib/a.ts']), asked('the api', ['lib/b.ts'])],
      contextOf([open]),
    );
    expect(result.accepted.map(({ requested }) => requested.title)).toEqual(['the API (2)', 'the api (3)']);
  });

  it.each([
    ['/etc/x', '"/etc/x" is absolute; paths are relative to the root of the repository'],
    ['a/../../b', '"a/../../b" has "..": it must stay in the repository'],
    ['.git/hooks/x', '".git/hooks/x" is in .git, which is no part of the repository'],
    ['GIT~1/x', '"GIT~1/x" is in .git, which is no part of the repository'],
    ['!a', '"!a" is a negation; name what may be written instead'],
    ['', '"" is empty'],
    ['.github/workflows/ci.yml', '".github/workflows/ci.yml" is changed by people alone'],
    ['own/rules.txt', '"own/rules.txt" is changed by people alone'],
    ['a/b.test.ts', '"a/b.test.ts" is protected: the plan alone may name it'],
    ['package-lock.json', '"package-lock.json" is protected: the plan alone may name it'],
    ['tests/**', '"tests/**" is protected: the plan alone may name it'],
  ])('is refused for the pattern %j', (pattern, reason) => {
    const context = contextOf([], { protectedGlobs: ['own/**'] });
    expect(admitRequested([asked('t', ['fine.ts', pattern])], context).refused).toEqual([
      { title: 't', reason },
    ]);
  });

  it('is refused where it says too little', () => {
    const result = admitRequested(
      [asked(' ', ['a']), asked('g', ['a'], { goal: ' ' }), asked('w', [])],
      contextOf([]),
    );
    expect(result.refused.map(({ reason }) => reason)).toEqual([
      'its title is empty',
      'its goal is empty',
      'it names nothing it would write',
    ]);
  });

  it('is refused where the task is full; rows that were cut into others do not count', () => {
    const cut = { ...open, status: 'split' as const };
    const result = admitRequested(
      [asked('one', ['a']), asked('two', ['b'])],
      contextOf([cut], { maxRows: 2 }),
    );
    expect(result).toEqual({
      accepted: [{ requested: asked('one', ['a']), dependsOn: [] }],
      refused: [{ title: 'two', reason: 'the task has the 2 rows it may have' }],
    });
  });
});
