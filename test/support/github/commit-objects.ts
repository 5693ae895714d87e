import { git } from './git.ts';
import { nodeId, repositoryHtmlUrl, repositoryUrl, userObject } from './objects.ts';
import type { Json } from './router.ts';
import { type Repository, type State, timestamp } from './state.ts';

export interface Person {
  readonly name: string;
  readonly email: string;
  /** UTC, without fractions of a second. */
  readonly date: string;
}

export interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  readonly message: string;
  readonly signature: string | null;
  /** What was signed: the object without its signature. */
  readonly payload: string;
}

/** Reads a commit object; throws where the id is no commit. */
export async function readCommit(dir: string, sha: string): Promise<Commit> {
  const text = (await git(dir, ['cat-file', 'commit', sha])).toString('utf8');
  const end = text.indexOf('\n\n');
  const fields: [string, string][] = [];
  for (const line of text.slice(0, end).split('\n')) {
    const last = fields.at(-1);
    if (line.startsWith(' ') && last) last[1] += `\n${line.slice(1)}`;
    else fields.push([line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
  }
  const all = (name: string) => fields.filter(([key]) => key === name).map(([, value]) => value);
  const signature = all('gpgsig')[0] ?? null;
  const unsigned = fields.filter(([key]) => key !== 'gpgsig').map(([key, value]) => `${key} ${value}\n`);
  return {
    sha,
    tree: all('tree')[0] ?? '',
    parents: all('parent'),
    author: personOf(all('author')[0] ?? ''),
    committer: personOf(all('committer')[0] ?? ''),
    message: text.slice(end + 2).replace(/\n$/, ''),
    signature,
    payload: `${unsigned.join('')}\n${text.slice(end + 2)}`,
  };
}

function personOf(line: string): Person {
  const [, name = '', email = '', time = '0'] = /^(.*?) ?<([^>]*)> (\d+)/.exec(line) ?? [];
  return { name, email, date: timestamp(Number(time) * 1000) };
}

function verificationOf({ signature, payload, committer }: Commit): Json {
  if (signature === null) {
    return { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null };
  }
  return { verified: true, reason: 'valid', signature, payload, verified_at: committer.date };
}

/** As the Git Data API shows it. */
export async function gitCommitObject(state: State, repository: Repository, sha: string): Promise<Json> {
  const commit = await readCommit(repository.dir, sha);
  const api = `${repositoryUrl(state, repository)}/git`;
  const html = `${repositoryHtmlUrl(state, repository)}/commit`;
  return {
    sha,
    node_id: commitNode(repository, sha),
    url: `${api}/commits/${sha}`,
    html_url: `${html}/${sha}`,
    author: commit.author,
    committer: commit.committer,
    tree: { sha: commit.tree, url: `${api}/trees/${commit.tree}` },
    message: commit.message,
    parents: commit.parents.map((id) => ({
      sha: id,
      url: `${api}/commits/${id}`,
      html_url: `${html}/${id}`,
    })),
    verification: verificationOf(commit),
  };
}

/** As lists of commits, branches and comparisons show it. */
export async function commitObject(state: State, repository: Repository, sha: string): Promise<Json> {
  const commit = await readCommit(repository.dir, sha);
  const api = repositoryUrl(state, repository);
  const html = `${repositoryHtmlUrl(state, repository)}/commit`;
  return {
    sha,
    node_id: commitNode(repository, sha),
    commit: {
      author: commit.author,
      committer: commit.committer,
      message: commit.message,
      tree: { sha: commit.tree, url: `${api}/git/trees/${commit.tree}` },
      url: `${api}/git/commits/${sha}`,
      comment_count: 0,
      verification: verificationOf(commit),
    },
    url: `${api}/commits/${sha}`,
    html_url: `${html}/${sha}`,
    comments_url: `${api}/commits/${sha}/comments`,
    author: accountOf(state, commit.author),
    committer: accountOf(state, commit.committer),
    parents: commit.parents.map((id) => ({
      sha: id,
      url: `${api}/commits/${id}`,
      html_url: `${html}/${id}`,
    })),
  };
}

/** The account of an address: `login@example.com` or `id+login@users.noreply.github.com`. */
function accountOf(state: State, person: Person): Json | null {
  const login = /^(?:\d+\+)?(.+)@(?:example\.com|users\.noreply\.github\.com)$/.exec(person.email)?.[1];
  const user = login === undefined ? undefined : state.users.get(login.toLowerCase());
  return user ? userObject(state, user) : null;
}

/** As webhook payloads about checks show it. */
export async function simpleCommit(repository: Repository, sha: string): Promise<Json> {
  const { tree, message, author, committer } = await readCommit(repository.dir, sha);
  const who = ({ name, email }: Person) => ({ name, email });
  const people = { author: who(author), committer: who(committer) };
  return { id: sha, tree_id: tree, message, timestamp: committer.date, ...people };
}

function commitNode(repository: Repository, sha: string): string {
  return nodeId(`Commit:${sha}`, repository.id);
}
