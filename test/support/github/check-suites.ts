import { pullsOfHead } from './checks.ts';
import { simpleCommit } from './commit-objects.ts';
import { resolveCommit } from './git.ts';
import { appObject, nodeId, repositoryObject, repositoryUrl } from './objects.ts';
import { type Json, paginate, Refusal, type Reply, type RepositoryCall, type Route } from './router.ts';
import type { CheckRun, Repository, State } from './state.ts';

/** The worst first: what a suite concludes is the first of these that one of its runs concluded. */
const conclusions = ['failure', 'timed_out', 'cancelled', 'action_required', 'stale', 'success'];

/** A suite's state by its runs, the latest of each name. */
export function suiteState(runs: readonly CheckRun[]): { status: string; conclusion: string | null } {
  const latest = [...new Map(runs.map((run) => [run.name, run])).values()];
  if (latest.every((run) => run.status === 'queued')) return { status: 'queued', conclusion: null };
  if (latest.some((run) => run.status !== 'completed')) return { status: 'in_progress', conclusion: null };
  const worst = conclusions.find((conclusion) => latest.some((run) => run.conclusion === conclusion));
  return { status: 'completed', conclusion: worst ?? latest[0]?.conclusion ?? 'neutral' };
}

export function runsOfSuite(state: State, suiteId: number): CheckRun[] {
  return state.checkRuns.filter((run) => run.suiteId === suiteId);
}

export async function checkSuiteObject(state: State, repository: Repository, suiteId: number): Promise<Json> {
  const runs = runsOfSuite(state, suiteId);
  const [first] = runs;
  if (!first) throw new Error(`no check suite ${suiteId}`);
  const api = `${repositoryUrl(state, repository)}/check-suites/${suiteId}`;
  const own = [...repository.issues.values()].find(
    (issue) => issue.pull?.head.sha === first.headSha && issue.pull.head.repository === repository,
  );
  return {
    id: suiteId,
    node_id: nodeId('CheckSuite', suiteId),
    head_branch: own?.pull?.head.ref ?? null,
    head_sha: first.headSha,
    ...suiteState(runs),
    url: api,
    before: null,
    after: first.headSha,
    pull_requests: await pullsOfHead(state, repository, first.headSha),
    app: appObject(state, first.appId),
    repository: repositoryObject(state, repository),
    created_at: first.startedAt,
    updated_at: runs.at(-1)?.completedAt ?? first.startedAt,
    head_commit: await simpleCommit(repository, first.headSha),
    latest_check_runs_count: new Set(runs.map((run) => run.name)).size,
    check_runs_url: `${api}/check-runs`,
    rerequestable: true,
    runs_rerequestable: true,
  };
}

async function headOf(call: RepositoryCall): Promise<string> {
  const sha = await resolveCommit(call.repository.dir, call.params['ref'] ?? '');
  if (!sha) throw new Refusal(422, `No commit found for SHA: ${call.params['ref']}`);
  return sha;
}

async function listSuites(call: RepositoryCall): Promise<Reply> {
  const { state, repository, query } = call;
  const sha = await headOf(call);
  const runs = state.checkRuns
    .filter((run) => run.repositoryId === repository.id && run.headSha === sha)
    .filter((run) => query['app_id'] === undefined || run.appId === Number(query['app_id']))
    .filter((run) => query['check_name'] === undefined || run.name === query['check_name']);
  const ids = [...new Set(runs.map((run) => run.suiteId))];
  const { page, headers } = paginate(call, ids);
  const suites = await Promise.all(page.map((id) => checkSuiteObject(state, repository, id)));
  return { status: 200, body: { total_count: ids.length, check_suites: suites }, headers };
}

/** The combined status of the older status API. Nobody sets statuses here: `pending` and none, as GitHub has it. */
async function combinedStatus(call: RepositoryCall): Promise<Reply> {
  const { state, repository } = call;
  const sha = await headOf(call);
  const url = `${repositoryUrl(state, repository)}/commits/${sha}`;
  const own = repositoryObject(state, repository);
  const body = { state: 'pending', statuses: [], sha, total_count: 0, repository: own, commit_url: url };
  return { status: 200, body: { ...body, url: `${url}/status` } };
}

const commit = '/repos/{owner}/{repo}/commits/{ref}';
const as = 'installation';

export const checkSuiteRoutes: Route[] = [
  { method: 'GET', path: `${commit}/check-suites`, as, needs: { checks: 'read' }, handle: listSuites },
  { method: 'GET', path: `${commit}/status`, as, needs: { statuses: 'read' }, handle: combinedStatus },
];
