import { changedFiles } from './changed-files.ts';
import { commitObject } from './commit-objects.ts';
import { gitText, mergeBase, resolveCommit, tryGit } from './git.ts';
import { closeIssue, reopenIssue, writePullRef } from './move-refs.ts';
import { addPull } from './open-issues.ts';
import { baseShaOf, fullPull, pullIn } from './pulls.ts';
import {
  custom,
  type Effect,
  invalid,
  type Json,
  paginate,
  Refusal,
  type Reply,
  type RepositoryCall,
  type Route,
} from './router.ts';
import { findRepository, type PullIssue, type Repository, timestamp } from './state.ts';

const maxTitle = 256;
const maxBody = 65_536;
const maxFiles = 3_000;
const maxCommits = 250;

/** Pull requests of a repository are made one after the other, so that of two equal ones one is refused. */
const turns = new WeakMap<Repository, Promise<unknown>>();

async function createPull(call: RepositoryCall): Promise<Reply> {
  const earlier = turns.get(call.repository) ?? Promise.resolve();
  const own = earlier.then(() => openPull(call));
  turns.set(
    call.repository,
    own.catch(() => {}),
  );
  return own;
}

async function openPull(call: RepositoryCall): Promise<Reply> {
  const { state, repository, body } = call;
  if (body['issue'] !== undefined) throw new Refusal(501, 'The double turns no issues into pull requests');
  const title = String(body['title'] ?? '');
  const text = body['body'] === undefined || body['body'] === null ? null : String(body['body']);
  checkTexts(title, text);
  const baseRef = String(body['base']);
  const { headRepository, headRef } = headOf(call, String(body['head']));
  const base = await resolveCommit(repository.dir, `refs/heads/${baseRef}`);
  if (!base) throw invalid('PullRequest', 'base', 'invalid');
  const head = headRepository && (await resolveCommit(headRepository.dir, `refs/heads/${headRef}`));
  if (!headRepository || !head) throw invalid('PullRequest', 'head', 'invalid');
  const label = `${headRepository.owner.login}:${headRef}`;
  const same = [...repository.issues.values()].some(
    ({ state: open, pull }) =>
      open === 'open' &&
      pull?.baseRef === baseRef &&
      pull.head.ref === headRef &&
      pull.head.repository === headRepository,
  );
  if (same) throw custom('PullRequest', `A pull request already exists for ${label}.`);
  if (headRepository !== repository) {
    await gitText(repository.dir, ['fetch', '-q', headRepository.dir, head]);
  }
  if ((await gitText(repository.dir, ['rev-list', '--count', `${base}..${head}`])) === '0') {
    throw custom('PullRequest', `No commits between ${baseRef} and ${headRef}`);
  }
  if ((await mergeBase(repository.dir, base, head)) === null) {
    throw custom('PullRequest', `The ${headRef} branch has no history in common with ${baseRef}`);
  }
  const more = { title, body: text, draft: body['draft'] === true, author: state.app.bot.login };
  const issue = await addPull(state, repository, { ...more, headRef, headRepository, baseRef });
  const effects: Effect[] = [{ kind: 'pull', action: 'opened', issue }];
  return { status: 201, body: await fullPull(state, repository, issue), effects };
}

/** `branch` or `owner:branch`, with `head_repo` for forks within one organization. */
function headOf(call: RepositoryCall, head: string): { headRepository?: Repository; headRef: string } {
  const { state, repository, body } = call;
  const [, owner = repository.owner.login, headRef = head] = /^([^:]+):(.+)$/.exec(head) ?? [];
  const name =
    body['head_repo'] === undefined ? repository.name : String(body['head_repo']).split('/').at(-1);
  const found = findRepository(state, owner, name ?? '');
  return found ? { headRepository: found, headRef } : { headRef };
}

function checkTexts(title: string | null, body: string | null): void {
  const refuse = (field: string, max: number) =>
    invalid('PullRequest', field, 'custom', `${field} is too long (maximum is ${max} characters)`);
  if (title?.trim() === '') throw invalid('PullRequest', 'title', 'missing_field');
  if ([...(title ?? '')].length > maxTitle) throw refuse('title', maxTitle);
  if ((body ?? '').length > maxBody) throw refuse('body', maxBody);
}

async function updatePull(call: RepositoryCall): Promise<Reply> {
  const { state, repository, body } = call;
  const issue = pullIn(call);
  const { pull } = issue;
  const text = (name: string) => (body[name] === undefined ? undefined : String(body[name] ?? ''));
  const [title, words, base, wanted] = ['title', 'body', 'base', 'state'].map(text);
  checkTexts(title ?? null, words ?? null);
  if (base !== undefined && base !== pull.baseRef) {
    if (issue.state === 'closed')
      throw custom('PullRequest', 'Cannot change the base branch of a closed pull request.');
    if (!(await resolveCommit(repository.dir, `refs/heads/${base}`)))
      throw invalid('PullRequest', 'base', 'invalid');
  }
  if (wanted === 'open' && issue.state === 'closed') await checkReopening(issue);
  // Everything above may refuse; only now is anything changed.
  const changes: Json = {};
  if (title !== undefined && title !== issue.title) {
    changes['title'] = { from: issue.title };
    issue.title = title;
  }
  if (words !== undefined && words !== (issue.body ?? '')) {
    changes['body'] = { from: issue.body ?? '' };
    issue.body = words;
  }
  if (base !== undefined && base !== pull.baseRef) {
    changes['base'] = { ref: { from: pull.baseRef }, sha: { from: await baseShaOf(repository, issue) } };
    pull.baseRef = base;
  }
  const effects: Effect[] = [];
  if (Object.keys(changes).length > 0) {
    issue.updatedAt = timestamp();
    effects.push({ kind: 'pull', action: 'edited', issue, more: { changes } });
  }
  if (wanted === 'closed' && issue.state === 'open') {
    closeIssue(issue, null);
    effects.push({ kind: 'pull', action: 'closed', issue });
  } else if (wanted === 'open' && issue.state === 'closed') {
    const { head } = pull;
    head.sha = await gitText(head.repository.dir, ['rev-parse', `refs/heads/${head.ref}`]);
    await writePullRef(repository, issue.number, head.repository, head.sha);
    pull.frozenBase = null;
    reopenIssue(issue);
    effects.push({ kind: 'pull', action: 'reopened', issue });
  }
  return { status: 200, body: await fullPull(state, repository, issue), effects };
}

async function checkReopening({ pull: { head, merged } }: PullIssue): Promise<void> {
  const refuse = (why: string) => custom('PullRequest', `state cannot be changed. ${why}`);
  if (merged) throw refuse('The pull request has been merged.');
  const tip = await resolveCommit(head.repository.dir, `refs/heads/${head.ref}`);
  if (!tip) throw refuse(`The ${head.ref} branch has been deleted.`);
  const { code } = await tryGit(head.repository.dir, ['merge-base', '--is-ancestor', head.sha, tip]);
  if (code !== 0) throw refuse(`The ${head.ref} branch was force-pushed or recreated.`);
}

async function listFiles(call: RepositoryCall): Promise<Reply> {
  const { state, repository } = call;
  const issue = pullIn(call);
  const base = await baseShaOf(repository, issue);
  const { sha } = issue.pull.head;
  const from = (await mergeBase(repository.dir, base, sha)) ?? base;
  const { page, headers } = paginate(call, await changedFiles(state, repository, from, sha, maxFiles));
  return { status: 200, body: page, headers };
}

async function listCommits(call: RepositoryCall): Promise<Reply> {
  const { state, repository } = call;
  const issue = pullIn(call);
  const range = `${await baseShaOf(repository, issue)}..${issue.pull.head.sha}`;
  const ids = await gitText(repository.dir, ['rev-list', '--reverse', '--topo-order', range]);
  const { page, headers } = paginate(call, ids.split('\n').filter(Boolean).slice(0, maxCommits));
  const body = await Promise.all(page.map((sha) => commitObject(state, repository, sha)));
  return { status: 200, body, headers };
}

const pulls = '/repos/{owner}/{repo}/pulls';
const one = `${pulls}/{pull_number}`;
const as = 'installation';
const read = { pull_requests: 'read' } as const;
const write = { pull_requests: 'write' } as const;

export const pullWriteRoutes: Route[] = [
  { method: 'POST', path: pulls, as, needs: write, handle: createPull },
  { method: 'PATCH', path: one, as, needs: write, handle: updatePull },
  { method: 'GET', path: `${one}/files`, as, needs: read, handle: listFiles },
  { method: 'GET', path: `${one}/commits`, as, needs: read, handle: listCommits },
];
