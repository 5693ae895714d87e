/**
 * Who commits that are made here are by, and when: fixed, so that such a commit follows from its tree, parents and
 * message alone, and can be told from what people push. They exist in mirrors and sandboxes only.
 */

const name = 'Patchfleet';
const email = 'patchfleet@localhost';
const date = '1000000000 +0000';

/** For the environment of git. */
export const ownAuthor = {
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: email,
  GIT_AUTHOR_DATE: date,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
  GIT_COMMITTER_DATE: date,
};

/** Whether a commit, as `git cat-file commit` gives it, is by that author. */
export function isOwnCommit(commit: string): boolean {
  const [header = ''] = commit.split('\n\n', 1);
  return header.includes(`\nauthor ${name} <${email}> ${date}`);
}
