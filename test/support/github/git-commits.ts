import { gitCommitObject } from './commit-objects.ts';
import { git } from './git.ts';
import { shaParam, typeOf } from './git-blobs.ts';
import { nextCommitTime } from './repositories.ts';
import {
  invalid,
  type Json,
  notFound,
  Refusal,
  type Reply,
  type RepositoryCall,
  type Route,
} from './router.ts';
import type { State } from './state.ts';

/**
 * Makes a commit object and no ref. Without author and committer the app is the author, GitHub the committer,
 * and GitHub signs; with either, nobody does.
 */
async function createCommit(call: RepositoryCall): Promise<Reply> {
  const { state, repository, body } = call;
  const { dir } = repository;
  const message = String(body['message']);
  const tree = String(body['tree']);
  const parents = (body['parents'] ?? []) as string[];
  if (message.trim() === '') throw invalid('Commit', 'message', 'missing_field');
  for (const [name, sha] of [['tree', tree], ...parents.map((p) => ['parents', p])]) {
    if (/^[0-9a-f]{40}$/.test(sha ?? '')) continue;
    const rule = 'must be exactly 40 characters and contain only [0-9a-f].';
    throw new Refusal(422, `The ${name} parameter ${rule}`);
  }
  if ((await typeOf(dir, tree)) !== 'tree') throw new Refusal(422, 'Tree SHA does not exist');
  for (const parent of parents) {
    if ((await typeOf(dir, parent)) !== 'commit') {
      throw new Refusal(422, 'Parent SHA does not exist or is not a commit object');
    }
  }
  if (body['signature'] !== undefined) throw new Refusal(501, 'The double checks no signatures');
  const now = nextCommitTime(state);
  const author = body['author'] as Json | undefined;
  const committer = (body['committer'] as Json | undefined) ?? author;
  const signs = author === undefined && committer === undefined;
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${identity(author ?? botOf(state), now)}`,
    `committer ${identity(committer ?? { name: 'GitHub', email: 'noreply@github.com' }, now)}`,
  ];
  const signature = [
    '-----BEGIN PGP SIGNATURE-----',
    '',
    Buffer.from(`the double signs ${tree} at ${now}`).toString('base64'),
    '-----END PGP SIGNATURE-----',
    '',
  ];
  if (signs) lines.push(`gpgsig ${signature.join('\n ')}`);
  const object = Buffer.from(`${lines.join('\n')}\n\n${message}`, 'utf8');
  const args = ['hash-object', '-w', '-t', 'commit', '--stdin'];
  const sha = (await git(dir, args, object)).toString('utf8').trim();
  return { status: 201, body: await gitCommitObject(state, repository, sha) };
}

function botOf({ app: { bot } }: State): Json {
  return { name: bot.login, email: `${bot.id}+${bot.login}@users.noreply.github.com` };
}

function identity(person: Json, now: number): string {
  const clean = (text: unknown) =>
    String(text ?? '')
      .replace(/[<>\n\0]/g, '')
      .trim();
  const { name, email, date } = person;
  if (clean(name) === '') throw invalid('Commit', 'author', 'missing_field');
  const time = date === undefined ? now : Math.floor(Date.parse(String(date)) / 1000);
  return `${clean(name)} <${clean(email)}> ${time} +0000`;
}

async function readOne(call: RepositoryCall): Promise<Reply> {
  const { state, repository } = call;
  const sha = shaParam(call, 'commit_sha');
  if ((await typeOf(repository.dir, sha)) !== 'commit') throw notFound();
  return { status: 200, body: await gitCommitObject(state, repository, sha) };
}

const commits = '/repos/{owner}/{repo}/git/commits';
const as = 'installation';

export const gitCommitRoutes: Route[] = [
  { method: 'POST', path: commits, as, needs: { contents: 'write' }, handle: createCommit },
  { method: 'GET', path: `${commits}/{commit_sha}`, as, needs: { contents: 'read' }, handle: readOne },
];
