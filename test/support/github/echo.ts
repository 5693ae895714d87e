import { announce } from './announce.ts';
import { checkRunPayload, issueCommentPayload, reviewPayload } from './payloads.ts';
import type { Call, Json, Reply } from './router.ts';
import { pullOf, type Repository, type State } from './state.ts';
import type { Webhooks } from './webhooks.ts';

/** Delivers the events GitHub sends about the app's own writes, with `slug[bot]` as their sender. */
export async function echoWrite(
  state: State,
  webhooks: Webhooks,
  route: string,
  call: Call,
  repository: Repository,
  reply: Reply,
): Promise<void> {
  const { bot } = state.app;
  if (reply.effects !== undefined) {
    await announce(state, webhooks, repository, reply.effects, bot);
    return;
  }
  const id = (reply.body as Json | null)?.['id'];
  if (/(POST|PATCH) .*\/issues\/.*comments(\/\{comment_id\})?$/.test(route)) {
    const comment = state.comments.find((c) => c.id === id);
    if (!comment) return;
    const edited = call.method === 'PATCH';
    const changes = edited ? { changes: { body: { from: 'earlier text' } } } : {};
    const payload = issueCommentPayload(
      state,
      repository,
      comment,
      edited ? 'edited' : 'created',
      bot,
      changes,
    );
    await webhooks.send('issue_comment', payload);
  } else if (route.includes('/check-runs')) {
    const run = state.checkRuns.find((r) => r.id === id);
    const action = call.method === 'POST' ? 'created' : run?.status === 'completed' ? 'completed' : null;
    if (run && action)
      await webhooks.send('check_run', await checkRunPayload(state, repository, run, action, bot));
  } else if (route.endsWith('/reviews')) {
    const review = state.reviews.find((r) => r.id === id);
    const issue = review && pullOf(repository, review.pull);
    if (!review || !issue || review.state === 'PENDING') return;
    await webhooks.send('pull_request_review', await reviewPayload(state, repository, issue, review));
  }
}
