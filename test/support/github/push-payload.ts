import { readCommit } from './commit-objects.ts';
import { git, gitText, tryGit } from './git.ts';
import { repositoryHtmlUrl, userObject } from './objects.ts';
import { common } from './payloads.ts';
import type { Effect, Json } from './router.ts';
import type { Repository, State, User } from './state.ts';

const nothing = '0'.repeat(40);
/** GitHub lists no more commits than this in one push. */
const maxCommits = 2_048;

/** The payload of `push`: what the ref was, what it is, and the commits that came with it, oldest first. */
export async function pushPayload(
  state: State,
  repository: Repository,
  { ref, before, after }: Extract<Effect, { kind: 'push' }>,
  sender: User,
): Promise<Json> {
  const { dir, defaultBranch } = repository;
  const html = repositoryHtmlUrl(state, repository);
  const shared = common(state, repository, sender);
  const own = shared['repository'] as Json;
  const seconds = (time: unknown) => Math.floor(Date.parse(String(time)) / 1000);
  const from = before ?? (ref === `refs/heads/${defaultBranch}` ? null : `refs/heads/${defaultBranch}`);
  const excluded = from === null ? [] : [`^${from}`];
  const range = ['rev-list', '--reverse', `--max-count=${maxCommits}`];
  const ids = after === null ? '' : await gitText(dir, [...range, after, ...excluded]);
  const commits = await Promise.all(
    ids
      .split('\n')
      .filter(Boolean)
      .map((sha) => pushedCommit(state, repository, sha)),
  );
  const moved = before !== null && after !== null;
  const forwards = moved && (await tryGit(dir, ['merge-base', '--is-ancestor', before, after])).code === 0;
  return {
    ref,
    before: before ?? nothing,
    after: after ?? nothing,
    ...shared,
    repository: {
      ...own,
      // In this payload alone, these are seconds.
      created_at: seconds(own['created_at']),
      pushed_at: seconds(own['pushed_at']),
      owner: { ...userObject(state, repository.owner), name: repository.owner.login, email: null },
      stargazers: 0,
      master_branch: defaultBranch,
      ...(repository.owner.type === 'Organization' ? { organization: repository.owner.login } : {}),
    },
    pusher: { name: sender.login, email: `${sender.login}@users.noreply.github.com` },
    created: before === null,
    deleted: after === null,
    forced: moved && !forwards,
    base_ref: null,
    compare: `${html}/compare/${(before ?? nothing).slice(0, 12)}...${(after ?? nothing).slice(0, 12)}`,
    commits,
    head_commit: after === null ? null : await pushedCommit(state, repository, after),
  };
}

async function pushedCommit(state: State, repository: Repository, sha: string): Promise<Json> {
  const { tree, message, author, committer } = await readCommit(repository.dir, sha);
  const args = ['diff-tree', '-r', '-z', '--root', '--no-commit-id', '--no-renames', '--name-status', sha];
  const fields = (await git(repository.dir, args)).toString('utf8').split('\0');
  const changed: Record<string, string[]> = { A: [], D: [], M: [] };
  for (let i = 0; i + 1 < fields.length; i += 2) {
    (changed[fields[i] ?? ''] ?? changed['M'])?.push(fields[i + 1] ?? '');
  }
  return {
    id: sha,
    tree_id: tree,
    distinct: true,
    message,
    timestamp: committer.date,
    url: `${repositoryHtmlUrl(state, repository)}/commit/${sha}`,
    author: author,
    committer: committer,
    added: changed['A'],
    removed: changed['D'],
    modified: changed['M'],
  };
}
