import { z } from 'zod';
import type { RepositoryRef } from '../domain/task.ts';
import { type Command, parseCommands } from './command-grammar.ts';

/** What a delivery asks for, read from its payload alone. Payloads are data from outside: nothing in them is believed. */
export type TriggerDecision =
  | { readonly kind: 'ignored'; readonly reason: string }
  | {
      readonly kind: 'pull_request';
      readonly action: string;
      readonly repository: RepositoryRef;
      readonly pull: number;
      readonly actor: string;
    }
  | {
      readonly kind: 'commands';
      readonly commands: readonly Command[];
      readonly repository: RepositoryRef;
      /** Number of the issue or pull request. */
      readonly issue: number;
      readonly isPull: boolean;
      readonly commentId: number;
      readonly actor: string;
      readonly actorType: string;
    };

/** The events of app.yml, with the actions that ask for something. */
export const handledEvents = {
  pull_request: ['opened', 'synchronize', 'reopened', 'ready_for_review'],
  issue_comment: ['created'],
} as const satisfies Record<string, readonly string[]>;

const id = z.int().positive();
const user = z.object({ login: z.string().min(1).max(200), type: z.string().max(40) });
const common = {
  action: z.string(),
  installation: z.object({ id }),
  repository: z.object({ id, name: z.string().min(1), owner: z.object({ login: z.string().min(1) }) }),
  sender: user,
};
const pullRequestPayload = z.object({ ...common, pull_request: z.object({ number: id }) });
const issueCommentPayload = z.object({
  ...common,
  issue: z.object({ number: id, pull_request: z.object({}).nullish() }),
  comment: z.object({
    id,
    body: z.string(),
    user,
    performed_via_github_app: z.object({ id }).nullish(),
  }),
});

/** `self`: the app's own id. What the app caused itself never triggers, and neither do bots (it is one). */
export function readTrigger(event: string, payload: unknown, self: { readonly id: number }): TriggerDecision {
  if (!Object.hasOwn(handledEvents, event)) return ignored(`the event ${event} asks for nothing`);
  const actions: readonly string[] = handledEvents[event as keyof typeof handledEvents];
  const action = z.object({ action: z.string() }).safeParse(payload).data?.action;
  if (action === undefined || !actions.includes(action)) {
    return ignored(`${event} with the action ${action ?? '(none)'} asks for nothing`);
  }
  return event === 'pull_request' ? readPullRequest(payload) : readComment(payload, self);
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
    commentId: comment.id,
    actor: sender.login,
    actorType: sender.type,
  };
}

function isBot(who: z.infer<typeof user>): boolean {
  return who.type === 'Bot' || who.login.endsWith('[bot]');
}

function repositoryOf(payload: {
  installation: { id: number };
  repository: { id: number; name: string; owner: { login: string } };
}): RepositoryRef {
  const { installation, repository } = payload;
  return {
    installationId: installation.id,
    id: repository.id,
    owner: repository.owner.login,
    name: repository.name,
  };
}

function ignored(reason: string): TriggerDecision {
  return { kind: 'ignored', reason };
}

function lacking(error: z.ZodError): TriggerDecision {
  const paths = error.issues.map((issue) => issue.path.join('.')).slice(0, 5);
  return ignored(`the payload lacks ${paths.join(', ')}`);
}
