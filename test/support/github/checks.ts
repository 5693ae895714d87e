import { type Output, outputOf } from './check-output.ts';
import { resolveCommit } from './git.ts';
import { appObject, nodeId, repositoryHtmlUrl, repositoryUrl } from './objects.ts';
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
import { type CheckRun, type Repository, type State, takeId, timestamp } from './state.ts';

export async function checkRunObject(state: State, repository: Repository, run: CheckRun): Promise<Json> {
  const api = repositoryUrl(state, repository);
  const self = `${api}/check-runs/${run.id}`;
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId('CheckRun', run.id),
    head_sha: run.headSha,
    external_id: run.externalId,
    url: self,
    html_url: `${repositoryHtmlUrl(state, repository)}/runs/${run.id}`,
    details_url: run.detailsUrl ?? `${state.url}/apps/${state.app.slug}`,
    status: run.status,
    conclusion: run.conclusion,
    started_at: run.startedAt,
    completed_at: run.completedAt,
    output: {
      title: run.title,
      summary: run.summary,
      text: run.text,
      annotations_count: run.annotations.length,
      annotations_url: `${self}/annotations`,
    },
    check_suite: { id: run.suiteId },
    app: appObject(state, run.appId),
    pull_requests: await pullsOfHead(state, repository, run.headSha),
  };
}

/** Pull requests of the same repository with that head; GitHub leaves forks out. */
export async function pullsOfHead(state: State, repository: Repository, sha: string): Promise<Json[]> {
  const api = repositoryUrl(state, repository);
  const repo = { id: repository.id, url: api, name: repository.name };
  const found: Json[] = [];
  for (const issue of repository.issues.values()) {
    const { pull } = issue;
    if (!pull || issue.state !== 'open' || pull.head.sha !== sha || pull.head.repository !== repository)
      continue;
    // A base branch that goes is gone before its pull requests are closed.
    const base = await resolveCommit(repository.dir, `refs/heads/${pull.baseRef}`);
    if (base === null) continue;
    found.push({
      id: pull.id,
      number: issue.number,
      url: `${api}/pulls/${issue.number}`,
      head: { ref: pull.head.ref, sha, repo },
      base: { ref: pull.baseRef, sha: base, repo },
    });
  }
  return found;
}

async function createCheckRun(call: RepositoryCall): Promise<Reply> {
  const { state, repository, body } = call;
  const headSha = String(body['head_sha']);
  const commit = /^[0-9a-f]{40}$/.test(headSha) ? await resolveCommit(repository.dir, headSha) : null;
  if (!commit) throw new Refusal(422, `No commit found for SHA: ${headSha}`);
  const output = outputOf(body);
  if (body['output'] && output.title === null) throw invalid('CheckRun', 'title', 'missing_field');
  const run = addCheckRun(state, repository, { headSha, name: String(body['name']), appId: state.app.id });
  try {
    apply(run, body, output);
  } catch (error) {
    state.checkRuns.splice(state.checkRuns.indexOf(run), 1);
    throw error;
  }
  return { status: 201, body: await checkRunObject(state, repository, run) };
}

/** A check run of any app, before any of its fields is set. */
export function addCheckRun(
  state: State,
  repository: Repository,
  { headSha, name, appId }: { headSha: string; name: string; appId: number },
): CheckRun {
  const suite = state.checkRuns.find(
    (r) => r.repositoryId === repository.id && r.headSha === headSha && r.appId === appId,
  );
  const run: CheckRun = {
    id: takeId(state),
    repositoryId: repository.id,
    appId,
    suiteId: suite?.suiteId ?? takeId(state),
    headSha,
    name,
    status: 'queued',
    conclusion: null,
    externalId: '',
    detailsUrl: null,
    startedAt: timestamp(),
    completedAt: null,
    title: null,
    summary: null,
    text: null,
    annotations: [],
    actions: [],
    writes: 0,
  };
  state.checkRuns.push(run);
  return run;
}

async function updateCheckRun(call: RepositoryCall): Promise<Reply> {
  const { state, repository, body } = call;
  const run = checkRunIn(call);
  if (run.appId !== state.app.id) {
    const reason = 'Check run can only be modified by the GitHub App that created it.';
    throw new Refusal(403, `Invalid app_id \`${state.app.id}\` - ${reason}`);
  }
  apply(run, body, outputOf(body));
  return { status: 200, body: await checkRunObject(state, repository, run) };
}

/** Applies a valid body to a run, or throws and leaves it as it was. */
function apply(run: CheckRun, body: Json, output: Output): void {
  const conclusion = (body['conclusion'] ?? null) as string | null;
  const completes =
    conclusion !== null || body['status'] === 'completed' || body['completed_at'] !== undefined;
  if (completes && conclusion === null) throw invalid('CheckRun', 'conclusion', 'missing_field');
  if (conclusion === 'stale') throw invalid('CheckRun', 'conclusion', 'invalid');
  run.writes++;
  if (body['name'] !== undefined) run.name = String(body['name']);
  if (body['external_id'] !== undefined) run.externalId = String(body['external_id']);
  if (body['details_url'] !== undefined) run.detailsUrl = String(body['details_url']);
  if (body['started_at'] !== undefined) run.startedAt = String(body['started_at']);
  if (body['actions'] !== undefined) run.actions = body['actions'] as CheckRun['actions'];
  if (completes) {
    run.status = 'completed';
    run.conclusion = conclusion;
    run.completedAt = String(body['completed_at'] ?? timestamp());
  } else if (body['status'] !== undefined) {
    // A completed run may be opened again; it forgets how it ended.
    run.status = String(body['status']);
    run.conclusion = null;
    run.completedAt = null;
  }
  if (output.title !== null) run.title = output.title;
  if (output.summary !== null) run.summary = output.summary;
  if (output.text !== null) run.text = output.text;
  run.annotations.push(...output.annotations);
}

function checkRunIn(call: RepositoryCall): CheckRun {
  const id = numberParam(call, 'check_run_id');
  const run = call.state.checkRuns.find((r) => r.id === id && r.repositoryId === call.repository.id);
  if (!run) throw notFound();
  return run;
}

async function listForRef(call: RepositoryCall): Promise<Reply> {
  const { state, repository, query } = call;
  const sha = await resolveCommit(repository.dir, call.params['ref'] ?? '');
  if (!sha) throw new Refusal(422, `No commit found for SHA: ${call.params['ref']}`);
  const newestFirst = state.checkRuns
    .filter((r) => r.repositoryId === repository.id && r.headSha === sha)
    .filter((r) => query['check_name'] === undefined || r.name === query['check_name'])
    .filter((r) => query['status'] === undefined || r.status === query['status'])
    .filter((r) => query['app_id'] === undefined || r.appId === Number(query['app_id']))
    .reverse();
  const seen = new Set<string>();
  const latest = newestFirst.filter((r) => {
    const key = `${r.suiteId} ${r.name}`;
    return !seen.has(key) && seen.add(key);
  });
  const found = query['filter'] === 'all' ? newestFirst : latest;
  const { page, headers } = paginate(call, found);
  const runs = await Promise.all(page.map((run) => checkRunObject(state, repository, run)));
  return { status: 200, body: { total_count: found.length, check_runs: runs }, headers };
}

function listAnnotations(call: RepositoryCall): Reply {
  const run = checkRunIn(call);
  const { page, headers } = paginate(call, run.annotations);
  const html = repositoryHtmlUrl(call.state, call.repository);
  const body = page.map((annotation) => ({
    ...annotation,
    blob_href: `${html}/blob/${run.headSha}/${annotation.path.split('/').map(encodeURIComponent).join('/')}`,
  }));
  return { status: 200, body, headers };
}

const runs = '/repos/{owner}/{repo}/check-runs';
const write = { checks: 'write' } as const;
const read = { checks: 'read' } as const;

export const checkRoutes: Route[] = [
  { method: 'POST', path: runs, as: 'installation', needs: write, handle: createCheckRun },
  {
    method: 'PATCH',
    path: `${runs}/{check_run_id}`,
    as: 'installation',
    needs: write,
    handle: updateCheckRun,
  },
  {
    method: 'GET',
    path: `${runs}/{check_run_id}`,
    as: 'installation',
    needs: read,
    handle: async (call) => ({
      status: 200,
      body: await checkRunObject(call.state, call.repository, checkRunIn(call)),
    }),
  },
  {
    method: 'GET',
    path: `${runs}/{check_run_id}/annotations`,
    as: 'installation',
    needs: read,
    handle: listAnnotations,
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/commits/{ref}/check-runs',
    as: 'installation',
    needs: read,
    handle: listForRef,
  },
];
