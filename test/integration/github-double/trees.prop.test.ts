import { Octokit } from '@octokit/rest';
import { execa } from 'execa';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';

const repo = { owner: 'acme', repo: 'shop' };
const fullName = 'acme/shop';
let double: GitHubDouble;
let octokit: Octokit;
let dir: string;

beforeAll(async () => {
  double = await createGitHubDouble();
  ({ dir } = await double.createRepository({ fullName, files: { keep: '' } }));
  octokit = new Octokit({ baseUrl: double.apiUrl, auth: await double.mintToken(fullName) });
});
afterAll(() => double.close());

// Few names, so that files and directories often stand in each other's way.
const segment = fc.constantFrom('a', 'b', '[id]', 'ü "x"\n');
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const content = fc.string({ unit: 'binary', maxLength: 8 });
const files = fc.dictionary(path, content, { maxKeys: 5 }).filter((given) => {
  const paths = Object.keys(given);
  return !paths.some((one) => paths.some((other) => other.startsWith(`${one}/`)));
});

it('A tree made of entries over a base is the one that git makes of the same changes', async () => {
  const treeOf = async (sha: string) =>
    (await execa('git', ['--git-dir', dir, 'rev-parse', `${sha}^{tree}`])).stdout;
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      files,
      fc.uniqueArray(fc.tuple(path, content), { selector: ([p]) => p, minLength: 1, maxLength: 4 }),
      fc.nat(),
      async (base, edits, pick) => {
        const branch = `run-${++run}`;
        const parent = await double.commit(fullName, { branch, files: { ...base, keep: '' }, parent: null });
        // One of the base's own files goes too, where no edit touches its path.
        const names = Object.keys(base).filter((name) =>
          edits.every(([p]) => !p.startsWith(name) && !name.startsWith(p)),
        );
        const gone = names.length > 0 ? [names[pick % names.length] ?? ''] : [];
        const changes = {
          ...Object.fromEntries(gone.map((name) => [name, null])),
          ...Object.fromEntries(edits),
        };
        const tree = Object.entries(changes).map(([at, text]) => {
          const what = text === null ? { sha: null } : { content: text };
          return { path: at, mode: '100644', type: 'blob', ...what } as const;
        });
        const { data } = await octokit.git.createTree({ ...repo, base_tree: parent, tree: tree as never });
        const own = await double.commit(fullName, { branch, files: changes });
        expect(data.sha).toBe(await treeOf(own));
      },
    ),
    { numRuns: 25 },
  );
  expect([double.unexpected, double.violations]).toEqual([[], []]);
});
