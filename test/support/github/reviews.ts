import { type DiffHunk, type DiffLine, openDiff } from './diff-hunks.ts';
import { association, nodeId, repositoryHtmlUrl, repositoryUrl, userObject } from './objects.ts';
import { baseShaOf, isPartOfPull, pullIn } from './pulls.ts';
import {
  type Json,
  notFound,
  numberParam,
  paginate,
  Refusal,
  type Reply,
  type RepositoryCall,
  type Route,
} from './router.ts';
import { type Repository, type Review, type ReviewComment, type State, takeId, timestamp } from './state.ts';

const maxBody = 65_536;
const states = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED', COMMENT: 'COMMENTED' } as const;

/** GitHub names the kind of fault and never the comment that has it. */
function unprocessable(...errors: string[]): Refusal {
  return new Refusal(422, 'Unprocessable Entity', { errors });
}

async function createReview(call: RepositoryCall): Promise<Reply> {
  const { state, repository, body } = call;
  const issue = pullIn(call);
  const event = body['event'] as keyof typeof states | undefined;
  const text = String(body['body'] ?? '');
  const author = state.app.bot;
  const drafts = (body['comments'] ?? []) as Json[];
  if (text.length > maxBody) throw unprocessable(`Body is too long (maximum is ${maxBody} characters)`);
  if ((event === 'COMMENT' || event === 'REQUEST_CHANGES') && text.trim() === '') {
    throw unprocessable("Body can't be blank");
  }
  if (event && event !== 'COMMENT' && issue.author.id === author.id) {
    const verb = event === 'APPROVE' ? 'approve' : 'request changes on';
    throw unprocessable(`Can not ${verb} your own pull request`);
  }
  const commitId = String(body['commit_id'] ?? issue.pull.head.sha);
  if (!(await isPartOfPull(repository, issue, commitId))) {
    throw unprocessable('commit_id is not part of the pull request');
  }
  const mine = ofPull(state, repository, issue.number).filter((r) => r.author.id === author.id);
  if (!event && mine.some((r) => r.state === 'PENDING')) {
    throw unprocessable('User can only have one pending review per pull request');
  }
  const diff = await openDiff(repository.dir, await baseShaOf(repository, issue), commitId);
  const reviewId = takeId(state);
  const now = timestamp();
  const comments: ReviewComment[] = [];
  for (const draft of drafts) {
    const place = placeOf(draft, await diff.hunks(String(draft['path'])));
    comments.push({
      id: takeId(state),
      reviewId,
      path: String(draft['path']),
      body: String(draft['body']),
      ...place,
      commitId,
      author,
      createdAt: now,
    });
  }
  // Everything above may refuse; only now is anything posted.
  const reviewState = event ? states[event] : 'PENDING';
  const review: Review = {
    id: reviewId,
    repositoryId: repository.id,
    pull: issue.number,
    author,
    body: text,
    state: reviewState,
    commitId,
    submittedAt: now,
    comments,
  };
  state.reviews.push(review);
  return { status: 200, body: reviewObject(state, repository, review) };
}

type Place = Pick<ReviewComment, 'line' | 'side' | 'startLine' | 'startSide' | 'position' | 'diffHunk'>;

/** Where a draft comment lands; throws as GitHub does where it is off the diff. */
export function placeOf(draft: Json, hunks: readonly DiffHunk[] | null): Place {
  const body = String(draft['body'] ?? '');
  if (body.trim() === '') throw unprocessable("Body can't be blank");
  if (body.length > maxBody) throw unprocessable(`Body is too long (maximum is ${maxBody} characters)`);
  if (!hunks) throw unprocessable('Path could not be resolved');
  if (draft['line'] === undefined) return placeOfPosition(draft, hunks);
  const side = sideOf(draft['side'] ?? 'RIGHT');
  const end = find(hunks, Number(draft['line']), side);
  if (!end) throw unprocessable('Line could not be resolved');
  const single = { startLine: null, startSide: null };
  let range: Pick<Place, 'startLine' | 'startSide'> = single;
  if (draft['start_line'] !== undefined) {
    const startLine = Number(draft['start_line']);
    const startSide = sideOf(draft['start_side'] ?? side);
    const start = find(hunks, startLine, startSide);
    if (!start) throw unprocessable('Start line could not be resolved');
    if (start.hunk !== end.hunk) throw unprocessable('Start line must be part of the same hunk as the line.');
    if (
      start.line.position >= end.line.position ||
      (side === startSide && startLine >= Number(draft['line']))
    ) {
      throw unprocessable('Start line must precede the end line.');
    }
    range = { startLine, startSide };
  }
  return {
    line: Number(draft['line']),
    side,
    ...range,
    position: end.line.position,
    diffHunk: excerpt(end.hunk, end.line),
  };
}

function placeOfPosition(draft: Json, hunks: readonly DiffHunk[]): Place {
  for (const hunk of hunks) {
    const line = hunk.lines.find((l) => l.position === draft['position']);
    if (!line) continue;
    const side = line.right === null ? 'LEFT' : 'RIGHT';
    const number = line.right ?? line.left ?? 0;
    const place = { line: number, side, startLine: null, startSide: null } as const;
    return { ...place, position: line.position, diffHunk: excerpt(hunk, line) };
  }
  throw unprocessable('Position could not be resolved');
}

function sideOf(value: unknown): 'LEFT' | 'RIGHT' {
  if (value === 'LEFT' || value === 'RIGHT') return value;
  throw unprocessable('Side must be LEFT or RIGHT');
}

/** LEFT is for deletions alone; RIGHT for additions and unchanged lines, as the documentation has it. */
function find(hunks: readonly DiffHunk[], number: number, side: 'LEFT' | 'RIGHT') {
  for (const hunk of hunks) {
    const line = hunk.lines.find((l) =>
      side === 'LEFT' ? l.right === null && l.left === number : l.right === number,
    );
    if (line) return { hunk, line };
  }
  return null;
}

function excerpt(hunk: DiffHunk, last: DiffLine): string {
  const lines = hunk.lines.slice(0, hunk.lines.indexOf(last) + 1).map((line) => line.text);
  return [hunk.header, ...lines].join('\n');
}

function ofPull(state: State, repository: Repository, number: number): Review[] {
  return state.reviews.filter((r) => r.repositoryId === repository.id && r.pull === number);
}

export function reviewObject(state: State, repository: Repository, review: Review): Json {
  const html = `${repositoryHtmlUrl(state, repository)}/pull/${review.pull}#pullrequestreview-${review.id}`;
  const pull = `${repositoryUrl(state, repository)}/pulls/${review.pull}`;
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: userObject(state, review.author),
    body: review.body,
    state: review.state,
    html_url: html,
    pull_request_url: pull,
    author_association: association(repository, review.author),
    _links: { html: { href: html }, pull_request: { href: pull } },
    ...(review.state === 'PENDING' ? {} : { submitted_at: review.submittedAt }),
    commit_id: review.commitId,
  };
}

function commentObject(state: State, repository: Repository, review: Review, comment: ReviewComment): Json {
  const self = `${repositoryUrl(state, repository)}/pulls/comments/${comment.id}`;
  const html = `${repositoryHtmlUrl(state, repository)}/pull/${review.pull}#discussion_r${comment.id}`;
  const pull = `${repositoryUrl(state, repository)}/pulls/${review.pull}`;
  return {
    id: comment.id,
    node_id: nodeId('PullRequestReviewComment', comment.id),
    url: self,
    pull_request_review_id: review.id,
    diff_hunk: comment.diffHunk,
    path: comment.path,
    position: comment.position,
    original_position: comment.position,
    commit_id: comment.commitId,
    original_commit_id: comment.commitId,
    user: userObject(state, comment.author),
    body: comment.body,
    created_at: comment.createdAt,
    updated_at: comment.createdAt,
    html_url: html,
    pull_request_url: pull,
    author_association: association(repository, comment.author),
    _links: { self: { href: self }, html: { href: html }, pull_request: { href: pull } },
    line: comment.line,
    original_line: comment.line,
    side: comment.side,
    start_line: comment.startLine,
    original_start_line: comment.startLine,
    start_side: comment.startSide,
    subject_type: 'line',
  };
}

function listReviews(call: RepositoryCall): Reply {
  const all = ofPull(call.state, call.repository, pullIn(call).number);
  const { page, headers } = paginate(call, all);
  return { status: 200, body: page.map((r) => reviewObject(call.state, call.repository, r)), headers };
}

function listComments(call: RepositoryCall, reviews: readonly Review[]): Reply {
  const all = reviews.flatMap((review) => review.comments.map((comment) => ({ review, comment })));
  const { page, headers } = paginate(call, all);
  const body = page.map((c) => commentObject(call.state, call.repository, c.review, c.comment));
  return { status: 200, body, headers };
}

function commentsOfReview(call: RepositoryCall): Reply {
  const id = numberParam(call, 'review_id');
  const review = ofPull(call.state, call.repository, pullIn(call).number).find((r) => r.id === id);
  if (!review) throw notFound();
  return listComments(call, [review]);
}

function commentsOfPull(call: RepositoryCall): Reply {
  const reviews = ofPull(call.state, call.repository, pullIn(call).number);
  return listComments(
    call,
    reviews.filter((r) => r.state !== 'PENDING'),
  );
}

const pull = '/repos/{owner}/{repo}/pulls/{pull_number}';
const read = { pull_requests: 'read' } as const;
const write = { pull_requests: 'write' } as const;

export const reviewRoutes: Route[] = [
  { method: 'POST', path: `${pull}/reviews`, as: 'installation', needs: write, handle: createReview },
  { method: 'GET', path: `${pull}/reviews`, as: 'installation', needs: read, handle: listReviews },
  {
    method: 'GET',
    path: `${pull}/reviews/{review_id}/comments`,
    as: 'installation',
    needs: read,
    handle: commentsOfReview,
  },
  { method: 'GET', path: `${pull}/comments`, as: 'installation', needs: read, handle: commentsOfPull },
];
