import type { Candidate } from '../domain/candidate.ts';
import type { Task } from '../store/port.ts';
import { type Answer, ask, isGone, type Refusal } from './ask-github.ts';
import type { ChangeKeys, Integration } from './change.ts';
import type { ChangeContext } from './change-context.ts';
import { commitMessage, taskTrailer } from './render-pull.ts';
import { readTargetHead, whyUnwanted } from './target-head.ts';
import { unequal, writeGitHubTree } from './write-tree.ts';

/** A candidate that has something to publish. */
export type Publishable = Candidate & { readonly commit: string; readonly tree: string };

export type BranchAnswer = Answer<'written' | 'moved'>;

/**
 * Writes the candidate's tree, a commit and the branch to GitHub. The target is read before the first object and
 * once more before the branch, which is what makes the change visible. A branch that is there already is adopted
 * where it is ours, else refused: nobody's work is ever written over.
 */
export async function writeBranch(
  context: ChangeContext,
  keys: ChangeKeys,
  integration: Integration,
  candidate: Publishable,
): Promise<BranchAnswer> {
  const { deps, client, view, signal } = context;
  const { task } = view;
  const { owner, repo } = task;
  const before = await deps.store.publications.begin(keys.branch, 'branch', task.id);
  if (before.status !== 'pending') {
    const found = await adoptBranch(context, keys, candidate);
    if (found.refused !== null) return found;
    if (found.data) return { refused: null, data: 'written' };
  }
  const unwanted = await whyUnwanted(client, task, integration.subtask.issue, signal);
  if (unwanted.refused !== null) return unwanted;
  if (unwanted.data !== null) return { refused: { status: null, detail: unwanted.data } };
  const first = await readTargetHead(client, task, signal);
  if (first.refused !== null) return first;
  if (first.data !== candidate.targetSha) return { refused: null, data: 'moved' };

  const entries = await context.mirror.compareTrees(candidate.targetSha, candidate.commit);
  const baseTree = await context.mirror.treeOf(candidate.targetSha);
  const target = { client, owner, repo, signal };
  const tree = await writeGitHubTree(target, context.mirror, baseTree, entries);
  if (tree.refused !== null) return tree;
  if (tree.data !== candidate.tree) throw unequal('the tree', candidate.tree, tree.data);
  // No author: GitHub signs what an app commits in its own name only.
  const commit = await ask('the commit could not be written', signal, () =>
    client.rest.git.createCommit({
      ...{ owner, repo, tree: candidate.tree, parents: [candidate.targetSha] },
      message: commitMessage(task, integration),
      request: { signal },
    }),
  );
  if (commit.refused !== null) return commit;
  const second = await readTargetHead(client, task, signal);
  if (second.refused !== null) return second;
  if (second.data !== candidate.targetSha) return { refused: null, data: 'moved' };
  const { sha } = commit.data;
  const ref = await ask(`the branch ${keys.ref} could not be made`, signal, () =>
    client.rest.git.createRef({ owner, repo, ref: `refs/heads/${keys.ref}`, sha, request: { signal } }),
  );
  if (ref.refused === null) {
    await record(context, keys, candidate, sha);
    return { refused: null, data: 'written' };
  }
  if (ref.refused.status !== 422) return ref;
  const found = await adoptBranch(context, keys, candidate);
  if (found.refused !== null) return found;
  return found.data ? { refused: null, data: 'written' } : ref;
}

/** Whether the branch is there, and ours: of the verified tree, on the verified base or with the task's trailer. */
async function adoptBranch(
  context: ChangeContext,
  keys: ChangeKeys,
  candidate: Publishable,
): Promise<Answer<boolean>> {
  const { client, view, signal } = context;
  const { owner, repo } = view.task;
  const ref = await ask(`the branch ${keys.ref} could not be read`, signal, () =>
    client.rest.git.getRef({ owner, repo, ref: `heads/${keys.ref}`, request: { signal } }),
  );
  if (ref.refused !== null) return isGone(ref.refused) ? { refused: null, data: false } : ref;
  const { sha } = ref.data.object;
  const commit = await ask(`the commit of ${keys.ref} could not be read`, signal, () =>
    client.rest.git.getCommit({ owner, repo, commit_sha: sha, request: { signal } }),
  );
  if (commit.refused !== null) return commit;
  const { tree, parents, message } = commit.data;
  const onBase = parents.length === 1 && parents[0]?.sha === candidate.targetSha;
  const ours = onBase || isOfTask(view.task, message);
  if (tree.sha !== candidate.tree || !ours) return { refused: taken(keys.ref) };
  await record(context, keys, candidate, sha);
  return { refused: null, data: true };
}

function isOfTask(task: Task, message: string): boolean {
  return message.trimEnd().split('\n').at(-1) === taskTrailer(task.id);
}

function taken(ref: string): Refusal {
  return {
    status: 422,
    detail: `the branch ${ref} exists and holds something else: it was left as it is; delete it and ask again`,
  };
}

function record({ deps, view }: ChangeContext, keys: ChangeKeys, candidate: Publishable, sha: string) {
  const { owner, repo } = view.task;
  const detail = { ref: keys.ref, commit: sha, tree: candidate.tree, target: candidate.targetSha };
  deps.log.info({ task: view.task.id, repository: `${owner}/${repo}`, ...detail }, 'branch published');
  return deps.store.publications.done(keys.branch, { detail });
}
