import { describe, expect, it } from 'vitest';
import type { GitHub, IssueNow, PullRequestNow, RepositoryNow } from '../../../src/github/port.ts';
import { readSubject } from '../../../src/intake/read-subject.ts';

const repository = { installationId: 5, id: 7, owner: 'octo', name: 'old' };
const renamed = { ...repository, name: 'new' };
const now: RepositoryNow = { repository: renamed, defaultBranch: 'main', archived: false };
const text = { title: 'Broken', body: 'Why', author: 'mona' };
const issue: IssueNow = { number: 3, open: true, isPull: false, ...text };
const pull: PullRequestNow = {
  repository: renamed,
  number: 3,
  open: true,
  draft: true,
  headSha: 'a',
  baseSha: 'b',
  baseRef: 'main',
  headRef: 'work',
  fork: true,
  archived: false,
  ...text,
};

interface Has {
  readonly repository?: RepositoryNow | string;
  readonly head?: string | null;
  readonly issue?: IssueNow | string;
  readonly pull?: PullRequestNow | string;
}
const read = (has: Has, isPull: boolean, words: { title: string; body: string } | null = null) => {
  const github: Pick<GitHub, 'readRepository' | 'readBranch' | 'readIssue' | 'readPullRequest'> = {
    readRepository: async () => has.repository ?? now,
    readBranch: async () => (has.head === undefined ? 'c' : has.head),
    readIssue: async () => has.issue ?? issue,
    readPullRequest: async () => has.pull ?? pull,
  };
  return readSubject(github, repository, 3, isPull, words);
};

describe('what a request is about', () => {
  it('is an issue at the head of the default branch, under the name the repository has now', async () => {
    expect(await read({}, false)).toEqual({
      subject: 'issue',
      number: 3,
      repository: renamed,
      headSha: 'c',
      baseSha: 'c',
      baseRef: 'main',
      targetRef: 'main',
      fork: false,
      ...text,
    });
  });

  it('is a pull request at its head, drafts and forks too', async () => {
    expect(await read({}, true)).toEqual({
      subject: 'pull_request',
      number: 3,
      repository: renamed,
      headSha: 'a',
      baseSha: 'b',
      baseRef: 'main',
      targetRef: 'work',
      fork: true,
      ...text,
    });
  });

  it('is in the words that were there when it was asked', async () => {
    const words = { title: 'Then', body: '' };
    expect([await read({}, false, words), await read({}, true, words)]).toMatchObject([words, words]);
  });

  const archived = 'the repository is archived';
  it.each<[string, boolean, Has, string]>([
    ['the repository is gone', false, { repository: 'the repository is gone' }, 'the repository is gone'],
    ['the repository is archived', false, { repository: { ...now, archived: true } }, archived],
    ['the pull request’s repository is archived', true, { pull: { ...pull, archived: true } }, archived],
    ['the repository is empty', false, { head: null }, 'the repository is empty'],
    ['the issue is gone', false, { issue: 'the issue is gone' }, 'the issue is gone'],
    ['the issue is closed', false, { issue: { ...issue, open: false } }, 'the issue is closed'],
    ['the issue is a pull request', false, { issue: { ...issue, isPull: true } }, 'it is a pull request'],
    ['the pull request is gone', true, { pull: 'the pull request is gone' }, 'the pull request is gone'],
    ['the pull request is closed', true, { pull: { ...pull, open: false } }, 'the pull request is closed'],
  ])('is nothing where %s', async (_name, isPull, has, reason) => {
    expect(await read(has, isPull)).toBe(reason);
  });
});
