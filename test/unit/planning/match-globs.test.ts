import { describe, expect, it } from 'vitest';
import { matchGlobs } from '../../../src/planning/match-globs.ts';

describe('matchGlobs', () => {
  it.each([
    ['**', 'new\nline/a\nb.ts', true],
    ['**', '.github/workflows/ci.yml', true],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'src/.hidden/a.ts', true],
    ['*.ts', 'src/a.ts', false],
    ['dist/', 'dist/a/b.js', true],
    ['dist/', 'src/dist/a.js', false],
    ['app/[id]/page.tsx', 'app/[id]/page.tsx', true],
    ['app/[id]/page.tsx', 'app/i/page.tsx', true],
    ['app/\\[id\\]/**', 'app/[id]/page.tsx', true],
    ['**/*.{lock,snap}', 'a/b.snap', true],
    ['**', '-dash', true],
    ['**', 'quote"s (1) {x}', true],
    ['!a.ts', 'b.ts', false],
    ['', 'a', false],
  ])('%j on %j: %s', (glob, path, matches) => {
    expect(matchGlobs([glob])(path)).toBe(matches);
  });

  it('matches nothing without globs', () => {
    expect(matchGlobs([])('a')).toBe(false);
  });
});
