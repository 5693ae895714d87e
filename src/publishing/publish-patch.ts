import { PatchfleetError } from '../domain/failure.ts';
import type { ChangeKeys, Integration } from './change.ts';
import type { ChangeContext } from './change-context.ts';
import { plural } from './conclude.ts';
import { repositoryOf } from './home-comment.ts';
import { renderPatch } from './render-patch.ts';
import { mergedRows } from './render-pull.ts';
import { readTargetHead, whyUnwanted } from './target-head.ts';
import type { Publishable } from './write-branch.ts';
import { putComment } from './write-comment.ts';

/** Bytes of a patch that is still looked at; a comment holds far less. */
const maxPatchBytes = 4 * 1024 * 1024;

/** For a head in a fork, where nothing can be pushed: one comment on the pull request with the patch. */
export async function publishPatch(
  context: ChangeContext,
  keys: ChangeKeys,
  integration: Integration,
  candidate: Publishable,
): Promise<'settled' | 'moved'> {
  const { deps, client, view, signal } = context;
  const { task } = view;
  const unwanted = await whyUnwanted(client, task, null, signal);
  if (unwanted.refused !== null) return refuse(context, keys, unwanted.refused.detail);
  if (unwanted.data !== null) return refuse(context, keys, unwanted.data);
  const head = await readTargetHead(client, task, signal);
  if (head.refused !== null) return refuse(context, keys, head.refused.detail);
  if (head.data !== candidate.targetSha) return 'moved';
  const report = `**${mergedRows(integration.rows)} of ${plural(integration.rows.length, 'subtask')} merged and verified.**`;
  const patch = await readPatch(context, candidate);
  const body = renderPatch(patch, candidate.targetSha, report);
  await putComment(
    deps,
    { key: keys.patch, repository: repositoryOf(task), issue: task.number, body, taskId: task.id },
    signal,
  );
  return 'settled';
}

async function refuse({ deps, view }: ChangeContext, keys: ChangeKeys, detail: string): Promise<'settled'> {
  const { publications } = deps.store;
  await publications.begin(keys.patch, 'comment', view.task.id);
  await publications.fail(keys.patch, { code: 'github_refused', detail });
  return 'settled';
}

async function readPatch({ mirror }: ChangeContext, candidate: Publishable): Promise<Buffer | null> {
  try {
    return await mirror.patchText(candidate.targetSha, candidate.commit, maxPatchBytes);
  } catch (error) {
    if (error instanceof PatchfleetError && error.code === 'diff_too_large') return null;
    throw error;
  }
}
