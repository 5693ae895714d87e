import type { InstallationClient } from '../github/port.ts';
import type { Publication, Task } from '../store/port.ts';
import { ask, askAll, isGone, type PublishingDeps, type Refusal } from './ask-github.ts';
import type { CheckRunContent } from './render-check-run.ts';
import { type Annotation, idOfAnnotation } from './render-findings.ts';

/**
 * Writes a check run by the protocol of publications: the row is `sending` before each request and `done` after
 * its answer; after a lost answer GitHub is asked what it has before anything is written again.
 */

const checkRunName = 'Patchfleet';

/** GitHub's limit of annotations in one request. */
const annotationsPerRequest = 50;

export interface Run {
  readonly deps: PublishingDeps;
  readonly client: InstallationClient;
  readonly task: Task;
  readonly key: string;
  readonly signal: AbortSignal;
}

export interface Wanted {
  readonly content: CheckRunContent;
  readonly annotations: ReadonlyMap<string, Annotation>;
  readonly fingerprint: string;
}

function target({ task, signal }: Run) {
  return { owner: task.owner, repo: task.repo, request: { signal } };
}

/** Creates the run where there is none, then updates it. Null when GitHub has it all. */
export async function writeRun(run: Run, wanted: Wanted): Promise<Refusal | null> {
  const { publications } = run.deps.store;
  const before = await publications.begin(run.key, 'check_run', run.task.id);
  const doubt = before.status !== 'done';
  let id = before.githubId;
  if (id === null && before.status !== 'pending') {
    const found = await findRun(run);
    if (found.refused !== null) return found.refused;
    id = found.id;
  }
  let sent = doubt ? null : sentBefore(before);
  if (id === null) {
    const created = await createRun(run, wanted);
    if (created.refused !== null) return created.refused;
    if (wanted.content.conclusion === null) return null;
    id = created.id;
    sent = new Set();
  }
  const refusal = await updateRun(run, id, sent, wanted);
  if (refusal === null || !isGone(refusal) || before.githubId === null) return refusal;
  // Somebody deleted it, or its commit was collected; the second tells itself when a new one is refused.
  const created = await createRun(run, wanted);
  if (created.refused !== null) return created.refused;
  return wanted.content.conclusion === null ? null : updateRun(run, created.id, new Set(), wanted);
}

type Found<T> = ({ refused: null } & T) | { refused: Refusal };

/** Always open: the conclusion follows in an update, so that no run concludes without its annotations. */
async function createRun(run: Run, { content, fingerprint }: Wanted): Promise<Found<{ id: number }>> {
  const { client, task, key } = run;
  await run.deps.store.publications.begin(key, 'check_run', task.id);
  const answer = await ask('the check run could not be created', run.signal, () =>
    client.rest.checks.create({
      ...target(run),
      name: checkRunName,
      head_sha: task.headSha,
      external_id: key,
      status: content.status === 'queued' ? 'queued' : 'in_progress',
      started_at: content.startedAt,
      output: content.output,
    }),
  );
  if (answer.refused !== null) return answer;
  const { id, html_url: url } = answer.data;
  await run.deps.store.publications.done(key, {
    githubId: id,
    url,
    // Of a run that is to conclude this was only the half.
    fingerprint: content.conclusion === null ? fingerprint : null,
    detail: { annotated: [], concluded: false },
  });
  return { refused: null, id };
}

/** Null id: GitHub has no run of ours with the key of this head. */
async function findRun(run: Run): Promise<Found<{ id: number | null }>> {
  const { client, task, key, signal } = run;
  const { id: appId } = await run.deps.github.self();
  const answer = await askAll<{ id: number; external_id: string | null; app: { id: number } | null }>(
    client,
    'the check runs of the commit could not be read',
    signal,
    client.rest.checks.listForRef,
    {
      owner: task.owner,
      repo: task.repo,
      ref: task.headSha,
      check_name: checkRunName,
      app_id: appId,
      filter: 'all',
    },
  );
  if (answer.refused !== null) return answer;
  const ours = answer.data.filter((found) => found.external_id === key && found.app?.id === appId);
  return { refused: null, id: ours[0]?.id ?? null };
}

/**
 * GitHub appends annotations at every update: only what it does not have is sent, 50 at a time, the conclusion with
 * the last. `sent` null: an answer was lost, so GitHub is asked what it has.
 */
async function updateRun(
  run: Run,
  id: number,
  sent: ReadonlySet<string> | null,
  wanted: Wanted,
): Promise<Refusal | null> {
  const known = sent === null ? await readAnnotated(run, id) : { refused: null, ids: sent };
  if (known.refused !== null) return known.refused;
  const annotated = new Set<string>(known.ids);
  const missing = [...wanted.annotations].filter(([key]) => !annotated.has(key));
  do {
    const batch = missing.splice(0, annotationsPerRequest);
    const refusal = await sendUpdate(run, id, wanted, batch, missing.length === 0, annotated);
    if (refusal?.status === 422 && batch.length > 0) {
      // An annotation GitHub does not take must not cost the conclusion; the text lists the findings too.
      run.deps.log.warn({ task: run.task.id, detail: refusal.detail }, 'annotations refused');
      return sendUpdate(run, id, wanted, [], true, annotated);
    }
    if (refusal !== null) return refusal;
  } while (missing.length > 0);
  return null;
}

async function sendUpdate(
  run: Run,
  id: number,
  { content, fingerprint }: Wanted,
  batch: readonly (readonly [string, Annotation])[],
  last: boolean,
  annotated: Set<string>,
): Promise<Refusal | null> {
  const { client, key } = run;
  const { publications } = run.deps.store;
  const end =
    last && content.conclusion !== null && content.completedAt !== null
      ? { status: 'completed' as const, conclusion: content.conclusion, completed_at: content.completedAt }
      : { status: content.status === 'queued' ? ('queued' as const) : ('in_progress' as const) };
  await publications.begin(key, 'check_run', run.task.id);
  const annotations = batch.map(([, annotation]) => annotation);
  const answer = await ask('the check run could not be updated', run.signal, () =>
    client.rest.checks.update({
      ...target(run),
      check_run_id: id,
      started_at: content.startedAt,
      ...end,
      output: { ...content.output, ...(annotations.length === 0 ? {} : { annotations }) },
    }),
  );
  if (answer.refused !== null) return answer.refused;
  for (const [annotationKey] of batch) annotated.add(annotationKey);
  await publications.done(key, {
    githubId: id,
    url: answer.data.html_url,
    fingerprint: last ? fingerprint : null,
    detail: { annotated: [...annotated], concluded: end.status === 'completed' },
  });
  return null;
}

function sentBefore(row: Publication): Set<string> {
  const list = row.detail['annotated'];
  return new Set(Array.isArray(list) ? list.map(String) : []);
}

async function readAnnotated(run: Run, id: number): Promise<Found<{ ids: ReadonlySet<string> }>> {
  const answer = await askAll<{ raw_details: string | null }>(
    run.client,
    'the annotations of the check run could not be read',
    run.signal,
    run.client.rest.checks.listAnnotations,
    { owner: run.task.owner, repo: run.task.repo, check_run_id: id },
  );
  if (answer.refused !== null) return answer;
  const ids = answer.data.flatMap((annotation) => idOfAnnotation(annotation.raw_details) ?? []);
  return { refused: null, ids: new Set(ids) };
}
