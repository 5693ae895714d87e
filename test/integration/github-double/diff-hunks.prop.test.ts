import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';
import { openDiff } from '../../support/github/diff-hunks.ts';

let double: GitHubDouble;
let dir: string;

beforeAll(async () => {
  double = await createGitHubDouble();
  ({ dir } = await double.createRepository({ fullName: 'a/b', files: { other: 'x' } }));
});
afterAll(() => double.close());

const line = fc.constantFrom('', 'a', 'b', '-- a', '++ b', '@@ -1 +1 @@', '\\ No newline', 'c\r');
const text = fc.array(line, { maxLength: 40 }).map((lines) => lines.join('\n'));

it('every line of every hunk is the line of that number in the file of that side', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const base = await double.commit('a/b', { branch: 'main', files: { f: before } });
      const head = await double.commit('a/b', { branch: 'x', parent: base, files: { f: after } });
      const hunks = await (await openDiff(dir, base, head)).hunks('f');
      expect(hunks === null).toBe(before === after);
      const sides = { left: before.split('\n'), right: after.split('\n') };
      for (const row of (hunks ?? []).flatMap((hunk) => hunk.lines)) {
        for (const side of ['left', 'right'] as const) {
          const number = row[side];
          if (number !== null) expect(row.text.slice(1)).toBe(sides[side][number - 1]);
        }
      }
    }),
    { numRuns: 15 },
  );
});
