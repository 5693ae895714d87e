import { announce } from './announce.ts';
import { addComment } from './comments.ts';
import { findLabel, findOrAddLabel } from './label-list.ts';
import { changeLabel } from './labels.ts';
import { closeIssue, reopenIssue } from './move-refs.ts';
import { addIssue, type NewIssue } from './open-issues.ts';
import { issueCommentPayload } from './payloads.ts';
import type { Effect, Json } from './router.ts';
import {
  ensureUser,
  type Issue,
  type PullIssue,
  type Repository,
  repositoryNamed,
  type State,
  timestamp,
  type User,
} from './state.ts';
import type { Webhooks } from './webhooks.ts';

/** Who does it (default `mona`), and the id of the delivery. */
export interface Doing {
  readonly sender?: string;
  readonly deliveryId?: string;
}

/** What users do to issues, pull requests (as issues) and comments. Every change delivers its event. */
export function createIssueControls(state: State, webhooks: Webhooks) {
  const repo = (fullName: string) => repositoryNamed(state, fullName);
  const issueOf = (fullName: string, number: number): [Repository, Issue] => {
    const repository = repo(fullName);
    const issue = repository.issues.get(number);
    if (!issue) throw new Error(`${fullName} has no issue ${number}`);
    return [repository, issue];
  };
  const tell = (repository: Repository, effects: readonly Effect[], doing: Doing) => {
    const sender = ensureUser(state, doing.sender ?? 'mona');
    const id = doing.deliveryId === undefined ? {} : { id: doing.deliveryId };
    return announce(state, webhooks, repository, effects, sender, id);
  };
  const effectOf = (issue: Issue, action: 'closed' | 'reopened' | 'edited', changes?: Json): Effect => {
    const more = changes ? { changes } : {};
    return issue.pull
      ? { kind: 'pull', action, issue: issue as PullIssue, more }
      : { kind: 'issue', action, issue, ...more };
  };
  const close = async (
    fullName: string,
    number: number,
    request: Doing & { reason?: 'completed' | 'not_planned' },
  ) => {
    const [repository, issue] = issueOf(fullName, number);
    closeIssue(issue, issue.pull ? null : (request.reason ?? 'completed'));
    return tell(repository, [effectOf(issue, 'closed')], request);
  };

  return {
    /** A user opens an issue: `issues.opened`, then `issues.labeled` for each label. */
    async openIssue(fullName: string, request: NewIssue & { deliveryId?: string }) {
      const repository = repo(fullName);
      const issue = addIssue(state, repository, request);
      const labels = issue.labels.map(
        (label) => ({ kind: 'label', action: 'labeled', issue, label }) as const,
      );
      const { deliveryId } = request;
      const doing = { sender: issue.author.login, ...(deliveryId === undefined ? {} : { deliveryId }) };
      const delivery = await tell(repository, [{ kind: 'issue', action: 'opened', issue }, ...labels], doing);
      return { number: issue.number, delivery };
    },
    /** `issues.labeled` or `pull_request.labeled`; null where it had the label (or there is no webhook URL). */
    async addLabel(fullName: string, number: number, label: string, request: Doing = {}) {
      const [repository, issue] = issueOf(fullName, number);
      const effect = changeLabel(issue, findOrAddLabel(state, repository, label), 'labeled');
      return effect && tell(repository, [effect], request);
    },
    async removeLabel(fullName: string, number: number, label: string, request: Doing = {}) {
      const [repository, issue] = issueOf(fullName, number);
      const known = findLabel(issue.labels, label);
      const effect = known ? changeLabel(issue, known, 'unlabeled') : null;
      return effect && tell(repository, [effect], request);
    },
    async editIssue(
      fullName: string,
      number: number,
      request: Doing & { title?: string; body?: string | null },
    ) {
      const [repository, issue] = issueOf(fullName, number);
      const changes: Json = {};
      if (request.title !== undefined) {
        changes['title'] = { from: issue.title };
        issue.title = request.title;
      }
      if (request.body !== undefined) {
        changes['body'] = { from: issue.body ?? '' };
        issue.body = request.body;
      }
      issue.updatedAt = timestamp();
      return tell(repository, [effectOf(issue, 'edited', changes)], request);
    },
    async closeIssue(
      fullName: string,
      number: number,
      request: Doing & { reason?: 'completed' | 'not_planned' } = {},
    ) {
      return close(fullName, number, request);
    },
    /** Closes without merging: `pull_request.closed`. */
    async closePullRequest(fullName: string, number: number, request: Doing = {}) {
      return close(fullName, number, request);
    },
    async reopenIssue(fullName: string, number: number, request: Doing = {}) {
      const [repository, issue] = issueOf(fullName, number);
      reopenIssue(issue);
      return tell(repository, [effectOf(issue, 'reopened')], request);
    },
    /** Locked, the app cannot comment (403). `locked: false` unlocks. */
    async lockIssue(fullName: string, number: number, request: Doing & { locked?: boolean } = {}) {
      const [repository, issue] = issueOf(fullName, number);
      issue.locked = request.locked ?? true;
      if (issue.pull) return null;
      const action = issue.locked ? 'locked' : 'unlocked';
      return tell(repository, [{ kind: 'issue', action, issue }], request);
    },
    /** Gone for good, with its comments: whoever asks gets 410 (404 for a comment). Pull requests cannot be deleted. */
    async deleteIssue(fullName: string, number: number, request: Doing = {}) {
      const [repository, issue] = issueOf(fullName, number);
      if (issue.pull) throw new Error(`${fullName}#${number} is a pull request`);
      repository.issues.delete(number);
      repository.deletedIssues.add(number);
      const kept = state.comments.filter((c) => c.repositoryId !== repository.id || c.issue !== number);
      state.comments.splice(0, state.comments.length, ...kept);
      return tell(repository, [{ kind: 'issue', action: 'deleted', issue }], request);
    },
    /** A user writes a comment; `issue_comment.created` is delivered. */
    async comment(
      fullName: string,
      number: number,
      request: { author: string; body: string; deliveryId?: string; type?: User['type'] },
    ) {
      const [repository, issue] = issueOf(fullName, number);
      const author = ensureUser(state, request.author, request.type);
      const comment = addComment(state, repository, issue, author, request.body);
      const payload = issueCommentPayload(state, repository, comment, 'created', author);
      const id = request.deliveryId === undefined ? {} : { id: request.deliveryId };
      return { id: comment.id, delivery: await webhooks.send('issue_comment', payload, id) };
    },
    /** A user deletes a comment (anyone's); reading or writing it is 404 from then on. */
    async deleteComment(fullName: string, commentId: number, request: Doing = {}) {
      const repository = repo(fullName);
      const at = state.comments.findIndex((c) => c.id === commentId && c.repositoryId === repository.id);
      const comment = state.comments[at];
      if (!comment) throw new Error(`${fullName} has no comment ${commentId}`);
      state.comments.splice(at, 1);
      const sender = ensureUser(state, request.sender ?? comment.author.login);
      const payload = issueCommentPayload(state, repository, comment, 'deleted', sender);
      return webhooks.send('issue_comment', payload);
    },
  };
}
