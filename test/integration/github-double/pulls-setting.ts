import { Octokit } from '@octokit/rest';
import { expect } from 'vitest';
import { createGitHubDouble } from '../../support/github/create-github-double.ts';

export const repo = { owner: 'acme', repo: 'shop' };
export const fullName = 'acme/shop';
export const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A double with one repository, asked as the app; to be ended, which asserts that nothing wrong was asked. */
export async function createPullsSetting() {
  const double = await createGitHubDouble();
  const files = { 'a.txt': '1\n2\n3\n', 'old.txt': 'same\nlines\nhere\n', 'gone.txt': 'x\n' };
  const { dir, headSha: baseSha } = await double.createRepository({ fullName, files });
  const auth = await double.mintToken(fullName);
  const octokit = new Octokit({ baseUrl: double.apiUrl, auth, log: silent });
  return {
    ...{ double, octokit, dir, baseSha },
    branch: async (name: string, changed: Record<string, string> = { [name]: name }) =>
      double.commit(fullName, { branch: name, files: changed }),
    open: (head: string, more: object = {}) =>
      octokit.pulls.create({ ...repo, title: 't', head, base: 'main', ...more }),
    end: async () => {
      expect({ unexpected: double.unexpected, violations: double.violations }).toEqual({
        unexpected: [],
        violations: [],
      });
      await double.close();
    },
  };
}

/** The status, or what GitHub says in the first of its errors. */
export const outcome = (promise: Promise<{ status: number }>) =>
  promise.then(
    (r) => r.status as number | string,
    (e: {
      status: number;
      response: { data: { message: string; errors?: { message?: string; field?: string; code: string }[] } };
    }) => {
      const { errors, message } = e.response.data;
      const first = errors?.[0];
      return first ? (first.message ?? `${first.field} ${first.code}`) : `${e.status} ${message}`;
    },
  );
