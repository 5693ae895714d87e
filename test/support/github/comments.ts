import { issueIn } from './issues.ts';
import { appObject, association, nodeId, repositoryHtmlUrl, repositoryUrl, userObject } from './objects.ts';
import { reactionRollup } from './reaction-rollup.ts';
import {
  invalid,
  type Json,
  notFound,
  numberParam,
  paginate,
  Refusal,
  type Reply,
  type RepositoryCall,
  type Route,
} from './router.ts';
import {
  type Issue,
  type IssueComment,
  type Repository,
  type State,
  takeId,
  timestamp,
  type User,
} from './state.ts';

const maxBody = 65_536;

export function commentObject(state: State, repository: Repository, comment: IssueComment): Json {
  const self = `${repositoryUrl(state, repository)}/issues/comments/${comment.id}`;
  const kind = repository.issues.get(comment.issue)?.pull ? 'pull' : 'issues';
  const html = `${repositoryHtmlUrl(state, repository)}/${kind}/${comment.issue}#issuecomment-${comment.id}`;
  return {
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    url: self,
    html_url: html,
    issue_url: `${repositoryUrl(state, repository)}/issues/${comment.issue}`,
    body: comment.body,
    user: userObject(state, comment.author),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    author_association: association(repository, comment.author),
    performed_via_github_app: comment.author.id === state.app.bot.id ? appObject(state) : null,
    reactions: reactionRollup(self, comment),
  };
}

export function addComment(
  state: State,
  repository: Repository,
  issue: Issue,
  author: User,
  body: string,
): IssueComment {
  const now = timestamp();
  const comment: IssueComment = {
    id: takeId(state),
    repositoryId: repository.id,
    issue: issue.number,
    author,
    body: checkedBody(body),
    createdAt: now,
    updatedAt: now,
    reactions: [],
  };
  issue.updatedAt = now;
  state.comments.push(comment);
  return comment;
}

function checkedBody(body: string): string {
  if (body.trim() === '') throw invalid('IssueComment', 'data', 'unprocessable', "Body can't be blank");
  if (body.length > maxBody) {
    const message = `Body is too long (maximum is ${maxBody} characters)`;
    throw invalid('IssueComment', 'data', 'unprocessable', message);
  }
  return body;
}

function commentIn(call: RepositoryCall): IssueComment {
  const id = numberParam(call, 'comment_id');
  const comment = call.state.comments.find((c) => c.id === id && c.repositoryId === call.repository.id);
  if (!comment) throw notFound();
  return comment;
}

function createComment(call: RepositoryCall): Reply {
  const { state, repository } = call;
  const issue = issueIn(call);
  if (issue.locked) throw new Refusal(403, 'Unable to create comment because issue is locked.');
  const comment = addComment(state, repository, issue, state.app.bot, String(call.body['body']));
  return { status: 201, body: commentObject(state, repository, comment) };
}

function listComments(call: RepositoryCall): Reply {
  const { state, repository } = call;
  const { number } = issueIn(call);
  const since = call.query['since'];
  const all = state.comments
    .filter((c) => c.repositoryId === repository.id && c.issue === number)
    .filter((c) => since === undefined || Date.parse(c.updatedAt) >= Date.parse(since));
  const { page, headers } = paginate(call, all);
  return { status: 200, body: page.map((c) => commentObject(state, repository, c)), headers };
}

function updateComment(call: RepositoryCall): Reply {
  const comment = commentIn(call);
  if (comment.author.id !== call.state.app.bot.id)
    throw new Refusal(403, 'Resource not accessible by integration');
  comment.body = checkedBody(String(call.body['body']));
  comment.updatedAt = timestamp();
  return { status: 200, body: commentObject(call.state, call.repository, comment) };
}

/** 201 for a new reaction, 200 with the old one where this user has given it before. */
function createReaction(call: RepositoryCall): Reply {
  const { state } = call;
  const comment = commentIn(call);
  const content = String(call.body['content']);
  const user = state.app.bot;
  const known = comment.reactions.find((r) => r.content === content && r.user.id === user.id);
  if (known) return { status: 200, body: reactionObject(state, known) };
  const reaction = { id: takeId(state), content, user, createdAt: timestamp() };
  comment.reactions.push(reaction);
  return { status: 201, body: reactionObject(state, reaction) };
}

function listReactions(call: RepositoryCall): Reply {
  const { content } = call.query;
  const all = commentIn(call).reactions.filter((r) => content === undefined || r.content === content);
  const { page, headers } = paginate(call, all);
  return { status: 200, body: page.map((r) => reactionObject(call.state, r)), headers };
}

function reactionObject(state: State, reaction: IssueComment['reactions'][number]): Json {
  return {
    id: reaction.id,
    node_id: nodeId('Reaction', reaction.id),
    user: userObject(state, reaction.user),
    content: reaction.content,
    created_at: reaction.createdAt,
  };
}

const ofIssue = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
const one = '/repos/{owner}/{repo}/issues/comments/{comment_id}';
const read = { issues: 'read', pull_requests: 'read' } as const;
const write = { issues: 'write', pull_requests: 'write' } as const;

export const commentRoutes: Route[] = [
  { method: 'POST', path: ofIssue, as: 'installation', needs: write, handle: createComment },
  { method: 'GET', path: ofIssue, as: 'installation', needs: read, handle: listComments },
  {
    method: 'GET',
    path: one,
    as: 'installation',
    needs: read,
    handle: (call) => ({ status: 200, body: commentObject(call.state, call.repository, commentIn(call)) }),
  },
  { method: 'PATCH', path: one, as: 'installation', needs: write, handle: updateComment },
  { method: 'POST', path: `${one}/reactions`, as: 'installation', needs: write, handle: createReaction },
  { method: 'GET', path: `${one}/reactions`, as: 'installation', needs: read, handle: listReactions },
];
