import { Octokit } from '@octokit/rest';
import { execa } from 'execa';
import { expect } from 'vitest';
import { createGitHubDouble } from '../../support/github/create-github-double.ts';

export const repo = { owner: 'acme', repo: 'shop' };
export const fullName = 'acme/shop';
/** An id that no object has. */
export const missing = 'a'.repeat(40);
const silent = { debug() {}, info() {}, warn() {}, error() {} };

export type Entry = { path?: string; mode?: string; type?: string; sha?: string | null; content?: string };

export const file = (path: string, content: string): Entry => ({
  path,
  mode: '100644',
  type: 'blob',
  content,
});

/** The status, or status and message of a refusal. */
export const message = (promise: Promise<{ status: number }>) =>
  promise.then(
    (r) => r.status as number | string,
    (e: { status: number; response: { data: { message: string } } }) =>
      `${e.status} ${e.response.data.message}`,
  );

/** A double with a small repository, and what a test does to it by the Git Data API. */
export async function openGitData() {
  const double = await createGitHubDouble();
  const { dir, headSha } = await double.createRepository({
    fullName,
    files: {
      'a.txt': 'one\n',
      'b/c.txt': 'two\n',
      'b/d.txt': 'three\n',
      'app/[id]/ü.js': 'x\n',
      '.github/workflows/ci.yml': 'on: push\n',
    },
  });
  const as = (auth: string) => new Octokit({ baseUrl: double.apiUrl, auth, log: silent });
  const octokit = as(await double.mintToken(fullName));
  const git = async (...args: string[]) =>
    (await execa('git', ['--git-dir', dir, '-c', 'core.quotePath=false', ...args])).stdout;
  const baseTree = await git('rev-parse', `${headSha}^{tree}`);
  const tree = (entries: Entry[], more: object = { base_tree: baseTree }) =>
    octokit.git.createTree({ ...repo, tree: entries as never, ...more });
  const commit = async (files: Record<string, string>, parents: string[] = [headSha]) => {
    const { data } = await tree(Object.entries(files).map(([path, content]) => file(path, content)));
    const made = await octokit.git.createCommit({ ...repo, message: 'm', tree: data.sha, parents });
    return made.data.sha;
  };
  const close = async () => {
    await double.close();
    expect({ unexpected: double.unexpected, violations: double.violations }).toEqual({
      unexpected: [],
      violations: [],
    });
  };
  return { double, octokit, as, git, headSha, baseTree, tree, commit, close };
}
