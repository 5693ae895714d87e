import { checkSuiteObject } from './check-suites.ts';
import { issueObject } from './issues.ts';
import { labelObject } from './objects.ts';
import { checkRunPayload, common, pullRequestPayload } from './payloads.ts';
import { pushPayload } from './push-payload.ts';
import type { Effect, Json } from './router.ts';
import type { CheckRun, PullIssue, Repository, State, User } from './state.ts';
import type { DeliverOptions, Delivery, Webhooks } from './webhooks.ts';

/**
 * Delivers the events of what has changed, in order, as done by `sender`. Returns the first delivery (the one
 * that `options` are for); null where no webhook URL is set.
 */
export async function announce(
  state: State,
  webhooks: Webhooks,
  repository: Repository,
  effects: readonly Effect[],
  sender: User,
  options: DeliverOptions = {},
): Promise<Delivery | null> {
  let first: Delivery | null = null;
  for (const [index, effect] of effects.entries()) {
    const { event, payload } = await eventOf(state, repository, effect, sender);
    const delivery = await webhooks.send(event, payload, index === 0 ? options : {});
    if (index === 0) first = delivery;
  }
  return first;
}

async function eventOf(
  state: State,
  repository: Repository,
  effect: Effect,
  sender: User,
): Promise<{ event: string; payload: Json }> {
  switch (effect.kind) {
    case 'push':
      return { event: 'push', payload: await pushPayload(state, repository, effect, sender) };
    case 'pull': {
      const { action, issue, more = {}, in: own = repository } = effect;
      const payload = await pullRequestPayload(state, own, issue, action, sender, more);
      return { event: 'pull_request', payload };
    }
    case 'issue': {
      const { action, issue, changes } = effect;
      const more = changes ? { changes } : {};
      const rest = { ...more, ...common(state, repository, sender) };
      return { event: 'issues', payload: { action, issue: issueObject(state, repository, issue), ...rest } };
    }
    case 'label': {
      const { action, issue } = effect;
      const label = labelObject(state, repository, effect.label);
      if (issue.pull) {
        const pull = issue as PullIssue;
        const payload = await pullRequestPayload(state, repository, pull, action, sender, { label });
        return { event: 'pull_request', payload };
      }
      const rest = { label, ...common(state, repository, sender) };
      return { event: 'issues', payload: { action, issue: issueObject(state, repository, issue), ...rest } };
    }
  }
}

/** Another app's check run has ended: `check_run.completed`, and where it was the last one the suite's event. */
export async function announceCompletion(
  state: State,
  webhooks: Webhooks,
  repository: Repository,
  runs: readonly CheckRun[],
  suiteEnded: boolean,
  sender: User,
): Promise<Delivery | null> {
  let last: Delivery | null = null;
  for (const run of runs) {
    const payload = await checkRunPayload(state, repository, run, 'completed', sender);
    last = await webhooks.send('check_run', payload);
  }
  const [run] = runs;
  if (!run || !suiteEnded) return last;
  const { repository: _, ...suite } = await checkSuiteObject(state, repository, run.suiteId);
  const rest = common(state, repository, sender);
  return webhooks.send('check_suite', { action: 'completed', check_suite: suite, ...rest });
}
