import type { InstallationClient, Mirrors } from '../github/port.ts';
import type { TaskView } from '../store/port/views.ts';
import type { Task } from '../store/port.ts';
import { type Answer, ask, askAll, type PublishingDeps, type Refusal } from './ask-github.ts';
import { knownCount, planReview, type ReviewDraft, reviewMarker } from './plan-review.ts';
import { readChanges } from './read-changes.ts';
import { reviewKey } from './read-sections.ts';

/** The one review of a task. Its row is settled in any case: `done` with what was posted or why nothing was. */

export interface ReviewDeps extends PublishingDeps {
  readonly mirrors: Mirrors;
}

export async function publishReview(deps: ReviewDeps, view: TaskView, signal: AbortSignal): Promise<void> {
  const { task } = view;
  const { publications } = deps.store;
  const key = reviewKey(task.id);
  await deps.store.withLock(`publish:${key}`, async () => {
    const row = await publications.get(key);
    if (row?.status === 'done' || row?.status === 'failed') return;
    const without = async (detail: Record<string, unknown>) => {
      await publications.begin(key, 'review', task.id);
      await publications.done(key, { detail: { published: [], ...detail } });
    };
    if (task.outcome !== 'succeeded' && task.outcome !== 'partial') return without({});
    const known = await deps.store.views.published(task.repositoryId, task.number, task.id);
    const client = await deps.github.client(task.installationId);
    const review: Review = { deps, client, view, known, signal };

    const paths = [...new Set(view.findings.map((finding) => finding.path))];
    const changes =
      paths.length === 0 ? null : await readChanges(deps.mirrors, deps.log, task, paths, signal);
    const draft = planReview(view, known, changes);
    if (draft === null) return without({ known: knownCount(view, known) });

    await publications.begin(key, 'review', task.id);
    const refusal = await post(review, draft, row !== null, without);
    if (refusal === null) return;
    deps.log.warn({ task: task.id, status: refusal.status, detail: refusal.detail }, 'review refused');
    await publications.fail(key, { code: 'github_refused', detail: refusal.detail });
  });
}

interface Review {
  readonly deps: ReviewDeps;
  readonly client: InstallationClient;
  readonly view: TaskView;
  readonly known: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

interface Posted {
  readonly id: number;
  readonly html_url: string;
}

/** `doubt`: an earlier try may have posted it. Null when the row is settled. */
async function post(
  review: Review,
  draft: ReviewDraft,
  doubt: boolean,
  without: (detail: Record<string, unknown>) => Promise<void>,
): Promise<Refusal | null> {
  const { view, known } = review;
  if (doubt) {
    const found = await findReview(review);
    if (found.refused !== null) return found.refused;
    if (found.data !== null) return adopt(review, draft, found.data);
  }
  const moved = await whyNotAnymore(review);
  if (moved.refused !== null) return moved.refused;
  if (moved.data !== null) {
    await without({ reason: moved.data, known: draft.known });
    return null;
  }
  let posted = draft;
  let answer = await send(review, posted);
  if (answer.refused?.status === 422 && posted.comments.length > 0) {
    // GitHub takes all or nothing and does not say which anchor it disliked.
    review.deps.log.warn({ task: view.task.id, detail: answer.refused.detail }, 'anchors refused');
    posted = planReview(view, known, null) ?? draft;
    answer = await send(review, posted);
  }
  if (answer.refused !== null) return answer.refused;
  await record(review, posted, answer.data);
  return null;
}

function send(review: Review, draft: ReviewDraft): Promise<Answer<Posted>> {
  const { client, signal } = review;
  const { task } = review.view;
  return ask('the review could not be posted', signal, () =>
    client.rest.pulls.createReview({
      ...target(task, signal),
      commit_id: task.headSha,
      event: 'COMMENT',
      body: draft.body,
      comments: draft.comments.map((comment) => ({ ...comment })),
    }),
  );
}

function record(review: Review, draft: ReviewDraft, posted: Posted): Promise<void> {
  const { comments, inBody, leftOut, known, published } = draft;
  return review.deps.store.publications.done(reviewKey(review.view.task.id), {
    githubId: posted.id,
    url: posted.html_url,
    detail: { inline: comments.length, inBody, leftOut, known, published },
  });
}

/** A review that an earlier try posted: whether its findings went inline is seen from its comments. */
async function adopt(review: Review, draft: ReviewDraft, found: Posted): Promise<Refusal | null> {
  const { task } = review.view;
  const comments = await askAll(
    review.client,
    'the comments of the review could not be read',
    review.signal,
    review.client.rest.pulls.listCommentsForReview,
    { owner: task.owner, repo: task.repo, pull_number: task.number, review_id: found.id },
  );
  if (comments.refused !== null) return comments.refused;
  const inline = comments.data.length > 0 || draft.comments.length === 0;
  const posted = inline ? draft : (planReview(review.view, review.known, null) ?? draft);
  await record(review, posted, found);
  return null;
}

async function findReview(review: Review): Promise<Answer<Posted | null>> {
  const { task } = review.view;
  const { slug } = await review.deps.github.self();
  const answer = await askAll<Posted & { body: string | null; user: { login: string } | null }>(
    review.client,
    'the reviews of the pull request could not be read',
    review.signal,
    review.client.rest.pulls.listReviews,
    { owner: task.owner, repo: task.repo, pull_number: task.number },
  );
  if (answer.refused !== null) return answer;
  const marker = reviewMarker(task.id);
  // Anybody can write a marker: only our own reviews count.
  const ours = answer.data.find(
    ({ body, user }) => user?.login === `${slug}[bot]` && body?.startsWith(marker) === true,
  );
  return { refused: null, data: ours ?? null };
}

/** Why the review has no place any more, read just before it is posted; null when it has. */
async function whyNotAnymore({ client, view, signal }: Review): Promise<Answer<string | null>> {
  const { task } = view;
  const answer = await ask('the pull request could not be read', signal, () =>
    client.rest.pulls.get(target(task, signal)),
  );
  if (answer.refused !== null) return answer;
  const { state, head } = answer.data;
  if (state !== 'open') return { refused: null, data: 'the pull request was closed meanwhile' };
  return { refused: null, data: head.sha === task.headSha ? null : 'the pull request has a newer commit' };
}

function target(task: Task, signal: AbortSignal) {
  return { owner: task.owner, repo: task.repo, pull_number: task.number, request: { signal } };
}
