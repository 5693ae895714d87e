import { z } from 'zod';
import { parseCommands } from './command-grammar.ts';
import { readCheckRun, readCheckSuite, readPush } from './read-branch-events.ts';
import { ignored, lacking, type TriggerDecision, type Words } from './trigger-decision.ts';
import {
  closedIssuePayload,
  isBot,
  issueCommentPayload,
  issueLabelPayload,
  issuePayload,
  pullLabelPayload,
  pullRequestPayload,
  repositoryOf,
} from './trigger-payloads.ts';

/** The actions of pull requests that ask for a review. */
export const reviewActions = ['opened', 'synchronize', 'reopened', 'ready_for_review'] as const;

/** The events of app.yml, with the actions that ask for something; a push has none. */
export const handledEvents = {
  pull_request: [...reviewActions, 'labeled', 'closed'],
  issue_comment: ['created'],
  issues: ['opened', 'labeled', 'closed'],
  push: null,
  check_suite: ['completed'],
  check_run: ['completed'],
} as const satisfies Record<string, readonly string[] | null>;

/** Labels that ask for work, by name in lower case: GitHub's labels ignore case. */
export const requestLabels: ReadonlyMap<string, 'fix' | 'batch'> = new Map([
  ['patchfleet:fix', 'fix'],
  ['patchfleet:batch', 'batch'],
]);

/** `self`: the app's own id. What the app caused itself never triggers, and neither do bots (it is one). */
export function readTrigger(event: string, payload: unknown, self: { readonly id: number }): TriggerDecision {
  if (!Object.hasOwn(handledEvents, event)) return ignored(`the event ${event} asks for nothing`);
  const handled = event as keyof typeof handledEvents;
  const actions: readonly string[] | null = handledEvents[handled];
  const action = z.object({ action: z.string() }).safeParse(payload).data?.action;
  if (actions !== null && (action === undefined || !actions.includes(action))) {
    return ignored(`${event} with the action ${action ?? '(none)'} asks for nothing`);
  }
  switch (handled) {
    case 'pull_request':
      if (action === 'closed') return readClosed(payload, true);
      return action === 'labeled' ? readPullLabel(payload) : readPullRequest(payload);
    case 'issue_comment':
      return readComment(payload, self);
    case 'issues':
      if (action === 'closed') return readClosed(payload, false);
      return action === 'labeled' ? readIssueLabel(payload) : readIssue(payload);
    case 'push':
      return readPush(payload);
    case 'check_suite':
      return readCheckSuite(payload, self);
    case 'check_run':
      return readCheckRun(payload, self);
  }
}

function readPullRequest(payload: unknown): TriggerDecision {
  const { data, error } = pullRequestPayload.safeParse(payload);
  if (data === undefined) return lacking(error);
  const { sender } = data;
  if (isBot(sender)) return ignored(`caused by the bot ${sender.login}`);
  return {
    kind: 'pull_request',
    action: data.action,
    repository: repositoryOf(data),
    pull: data.pull_request.number,
    actor: sender.login,
  };
}

/** Whoever closes it, bots too: a merge queue, or one that sweeps up. */
function readClosed(payload: unknown, isPull: boolean): TriggerDecision {
  const { data, error } = (isPull ? pullRequestPayload : closedIssuePayload).safeParse(payload);
  if (data === undefined) return lacking(error);
  const { number } = 'pull_request' in data ? data.pull_request : data.issue;
  return { kind: 'closed', repository: repositoryOf(data), number, isPull, actor: data.sender.login };
}

function readPullLabel(payload: unknown): TriggerDecision {
  const { data, error } = pullLabelPayload.safeParse(payload);
  if (data === undefined) return lacking(error);
  const { pull_request: pull } = data;
  return readLabel(data, { ...pull, isPull: true, headSha: pull.head.sha });
}

function readIssueLabel(payload: unknown): TriggerDecision {
  const { data, error } = issueLabelPayload.safeParse(payload);
  if (data === undefined) return lacking(error);
  const { issue } = data;
  return readLabel(data, { ...issue, isPull: issue.pull_request != null, headSha: null });
}

function readLabel(
  data: { sender: { login: string; type: string }; label: { name: string } } & Parameters<
    typeof repositoryOf
  >[0],
  subject: Words & {
    number: number;
    state: string;
    updated_at: string;
    isPull: boolean;
    headSha: string | null;
  },
): TriggerDecision {
  const { sender } = data;
  const label = requestLabels.get(data.label.name.toLowerCase());
  if (label === undefined) return ignored('a label that asks for nothing');
  if (isBot(sender)) return ignored(`caused by the bot ${sender.login}`);
  if (subject.state === 'closed') return ignored('a label on something closed asks for nothing');
  if (label === 'batch' && subject.isPull) return ignored('batches are of issues; this is a pull request');
  return {
    kind: 'label',
    label,
    repository: repositoryOf(data),
    number: subject.number,
    isPull: subject.isPull,
    words: { title: subject.title, body: subject.body },
    at: subject.updated_at,
    headSha: subject.headSha,
    actor: sender.login,
    actorType: sender.type,
  };
}

function readIssue(payload: unknown): TriggerDecision {
  const { data, error } = issuePayload.safeParse(payload);
  if (data === undefined) return lacking(error);
  const { sender, issue } = data;
  for (const who of issue.user === null ? [sender] : [sender, issue.user]) {
    if (isBot(who)) return ignored(`caused by the bot ${who.login}`);
  }
  return {
    kind: 'issue_opened',
    repository: repositoryOf(data),
    number: issue.number,
    actor: sender.login,
  };
}

function readComment(payload: unknown, self: { id: number }): TriggerDecision {
  const { data, error } = issueCommentPayload.safeParse(payload);
  if (data === undefined) return lacking(error);
  const { sender, comment, issue } = data;
  if (comment.performed_via_github_app?.id === self.id) return ignored('a comment of this app');
  for (const who of [sender, comment.user]) {
    if (isBot(who)) return ignored(`caused by the bot ${who.login}`);
  }
  if (sender.login !== comment.user.login) return ignored('the comment is not by its sender');
  const commands = parseCommands(comment.body);
  if (commands.length === 0) return ignored('a comment without a command');
  return {
    kind: 'commands',
    commands,
    repository: repositoryOf(data),
    issue: issue.number,
    isPull: issue.pull_request != null,
    words: { title: issue.title, body: issue.body },
    commentId: comment.id,
    actor: sender.login,
    actorType: sender.type,
  };
}
