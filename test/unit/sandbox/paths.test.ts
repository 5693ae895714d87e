import { describe, expect, it } from 'vitest';
import { workspacePath } from '../../../sandbox/workspace-path.ts';
import { pathProblem, symlinkProblem } from '../../../src/sandbox/bases/tree-paths.ts';

describe('a path of a request', () => {
  it.each([
    ['', '/workspace'],
    ['.', '/workspace'],
    ['a/b.ts', '/workspace/a/b.ts'],
    ['-dash', '/workspace/-dash'],
    ['app/[id]/..page', '/workspace/app/[id]/..page'],
  ])('%j means %s', (path, place) => {
    expect(workspacePath('/workspace', path)).toBe(place.replace(/\/$/, ''));
  });

  it.each([
    ['/etc/passwd', 'must be relative to the workspace'],
    ['..', 'must not contain ".."'],
    ['a/../../b', 'must not contain ".."'],
    ['a\0b', 'NUL'],
  ])('%j is refused', (path, reason) => {
    expect(() => workspacePath('/workspace', path)).toThrow(reason);
  });
});

describe('a path of a tree', () => {
  it.each(['a', 'a/b', '-rf', 'new\nline', 'a.git', '.gitignore', '...', 'x/.github/y', '\xff'])(
    '%j is written',
    (path) => {
      expect(pathProblem(Buffer.from(path, 'latin1'))).toBeNull();
    },
  );
  it.each(['', '/a', '..', 'a/../b', './a', 'a//b', 'a/', '.git', '.GIT/config', 'sub/.git/hooks/x', 'a\0b'])(
    '%j is not',
    (path) => {
      expect(pathProblem(Buffer.from(path, 'latin1'))).not.toBeNull();
    },
  );
});

describe('a symlink of a tree', () => {
  it.each([
    ['a', 'b'],
    ['a/b', '../c'],
    ['a/b', '..'],
    ['a', '.'],
    ['a', 'b/../c'],
  ])('%j -> %j is made', (path, target) => {
    expect(symlinkProblem(Buffer.from(path), Buffer.from(target))).toBeNull();
  });
  it.each([
    ['a', '..'],
    ['a', '/etc/passwd'],
    ['a/b', '../../c'],
    ['a', 'b/../../c'],
    ['a', ''],
  ])('%j -> %j is not', (path, target) => {
    expect(symlinkProblem(Buffer.from(path), Buffer.from(target))).not.toBeNull();
  });
});
