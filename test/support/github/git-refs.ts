import { permits } from './auth.ts';
import { git, tryGit } from './git.ts';
import { typeOf } from './git-blobs.ts';
import { isWorkflow } from './git-trees.ts';
import { refMoved } from './move-refs.ts';
import { nodeId, repositoryUrl } from './objects.ts';
import { type Json, notFound, Refusal, type Reply, type RepositoryCall, type Route } from './router.ts';
import type { Repository } from './state.ts';

const nothing = '0'.repeat(40);

export interface Ref {
  /** In full. */
  readonly name: string;
  readonly sha: string;
  readonly type: string;
}

/** Refs whose full name starts with a prefix (of characters, not of path parts), in order. */
export async function listRefs(repository: Repository, prefix: string): Promise<Ref[]> {
  const format = '--format=%(refname)%00%(objectname)%00%(objecttype)';
  const rows = (await git(repository.dir, ['for-each-ref', format])).toString('utf8').split('\n');
  return rows
    .filter(Boolean)
    .map((row) => row.split('\0'))
    .map(([name = '', sha = '', type = '']) => ({ name, sha, type }))
    .filter((ref) => ref.name.startsWith(prefix));
}

function refObject(call: RepositoryCall, { name, sha, type }: Ref): Json {
  const api = `${repositoryUrl(call.state, call.repository)}/git`;
  return {
    ref: name,
    node_id: nodeId(`Ref:${name}`, call.repository.id),
    url: `${api}/${name.split('/').map(encodeURIComponent).join('/')}`,
    object: { type, sha, url: `${api}/${type}s/${sha}` },
  };
}

/** The ref of a path such as `heads/main`; a `refs/` before it is a mistake that GitHub does not forgive. */
async function refIn(call: RepositoryCall): Promise<Ref | undefined> {
  const name = `refs/${call.params['ref']}`;
  return (await listRefs(call.repository, name)).find((ref) => ref.name === name);
}

/** Refuses what no caller may write: pull request refs, workflows without their permission. */
async function checkMove(call: RepositoryCall, name: string, sha: string): Promise<void> {
  const { dir } = call.repository;
  if (/^refs\/pull\//.test(name)) throw new Refusal(422, 'deny updating a hidden ref');
  const type = await typeOf(dir, sha);
  if (type === null) throw new Refusal(422, 'Object does not exist');
  if (name.startsWith('refs/heads/') && type !== 'commit') throw new Refusal(422, 'Reference update failed');
  if (permits(call.caller, { workflows: 'write' }) || type !== 'commit') return;
  const fresh = (await git(dir, ['rev-list', sha, '--not', '--all'])).toString('utf8').split('\n');
  for (const commit of fresh.filter(Boolean)) {
    // For merges only files unlike those of every parent: what comes from a branch is no change of the merge.
    const args = ['diff-tree', '-r', '-c', '-z', '--root', '--no-commit-id', '--name-only', commit];
    const files = (await git(dir, args)).toString('utf8').split('\0');
    const workflow = files.find(isWorkflow);
    if (workflow === undefined) continue;
    const reason = `refusing to allow a GitHub App to create or update workflow \`${workflow}\``;
    throw new Refusal(403, `${reason} without \`workflows\` permission`);
  }
}

async function createRef(call: RepositoryCall): Promise<Reply> {
  const { state, repository, body } = call;
  const name = String(body['ref']);
  const sha = String(body['sha']);
  if (!name.startsWith('refs/') || name.split('/').length < 3) {
    throw new Refusal(422, "Reference name must start with 'refs/' and have at least two slashes.");
  }
  if ((await tryGit(repository.dir, ['check-ref-format', name])).code !== 0) {
    throw new Refusal(422, `${name} is not a valid ref name.`);
  }
  if ((await listRefs(repository, name)).some((ref) => ref.name === name)) {
    throw new Refusal(422, 'Reference already exists');
  }
  await checkMove(call, name, sha);
  // With the old value given, of two that come at once only one makes it.
  const { code } = await tryGit(repository.dir, ['update-ref', name, sha, nothing]);
  if (code !== 0) {
    const taken = (await listRefs(repository, name)).some((ref) => ref.name === name);
    throw new Refusal(422, taken ? 'Reference already exists' : 'Reference update failed');
  }
  const type = (await typeOf(repository.dir, sha)) ?? 'commit';
  const effects = await refMoved(state, repository, name, null, sha);
  return { status: 201, body: refObject(call, { name, sha, type }), effects };
}

async function updateRef(call: RepositoryCall): Promise<Reply> {
  const { state, repository, body } = call;
  const sha = String(body['sha']);
  const ref = await refIn(call);
  if (!ref) throw new Refusal(422, 'Reference does not exist');
  await checkMove(call, ref.name, sha);
  const forwards = (await tryGit(repository.dir, ['merge-base', '--is-ancestor', ref.sha, sha])).code === 0;
  const protects = isProtected(repository, ref.name);
  if (!forwards) {
    if (body['force'] !== true) throw new Refusal(422, 'Update is not a fast forward');
    if (protects) throw new Refusal(422, 'Cannot force-push to this branch');
  }
  if (protects) throw new Refusal(422, 'Changes must be made through a pull request.');
  const { code } = await tryGit(repository.dir, ['update-ref', ref.name, sha, ref.sha]);
  if (code !== 0) throw new Refusal(422, 'Reference cannot be updated');
  const type = (await typeOf(repository.dir, sha)) ?? 'commit';
  const effects = ref.sha === sha ? [] : await refMoved(state, repository, ref.name, ref.sha, sha);
  return { status: 200, body: refObject(call, { ...ref, sha, type }), effects };
}

async function deleteRef(call: RepositoryCall): Promise<Reply> {
  const { state, repository } = call;
  const ref = await refIn(call);
  if (!ref) throw new Refusal(422, 'Reference does not exist');
  if (ref.name.startsWith('refs/pull/')) throw new Refusal(422, 'deny updating a hidden ref');
  if (ref.name === `refs/heads/${repository.defaultBranch}`) {
    throw new Refusal(422, 'Cannot delete the default branch');
  }
  if (isProtected(repository, ref.name)) throw new Refusal(422, 'Cannot delete this branch');
  await git(repository.dir, ['update-ref', '-d', ref.name, ref.sha]);
  return { status: 204, body: null, effects: await refMoved(state, repository, ref.name, ref.sha, null) };
}

function isProtected(repository: Repository, name: string): boolean {
  return repository.protectedBranches.has(name.replace(/^refs\/heads\//, ''));
}

async function readRef(call: RepositoryCall): Promise<Reply> {
  const ref = await refIn(call);
  if (!ref) throw notFound();
  return { status: 200, body: refObject(call, ref) };
}

async function matchingRefs(call: RepositoryCall): Promise<Reply> {
  const found = await listRefs(call.repository, `refs/${call.params['ref']}`);
  return { status: 200, body: found.map((ref) => refObject(call, ref)) };
}

const gitData = '/repos/{owner}/{repo}/git';
const as = 'installation';
const read = { contents: 'read' } as const;
const write = { contents: 'write' } as const;

export const refRoutes: Route[] = [
  { method: 'POST', path: `${gitData}/refs`, as, needs: write, handle: createRef },
  { method: 'PATCH', path: `${gitData}/refs/{ref}`, as, needs: write, handle: updateRef },
  { method: 'DELETE', path: `${gitData}/refs/{ref}`, as, needs: write, handle: deleteRef },
  { method: 'GET', path: `${gitData}/ref/{ref}`, as, needs: read, handle: readRef },
  { method: 'GET', path: `${gitData}/matching-refs/{ref}`, as, needs: read, handle: matchingRefs },
];
