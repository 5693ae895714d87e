import { changedFiles } from './changed-files.ts';
import { commitObject } from './commit-objects.ts';
import { git, gitText, mergeBase, resolveCommit } from './git.ts';
import { repositoryHtmlUrl, repositoryUrl } from './objects.ts';
import { notFound, paginate, Refusal, type Reply, type RepositoryCall, type Route } from './router.ts';
import { findRepository } from './state.ts';

/** What a comparison shows at most. */
const maxCommits = 250;
const maxFiles = 300;

async function readBranch(call: RepositoryCall): Promise<Reply> {
  const { state, repository } = call;
  const name = call.params['branch'] ?? '';
  const sha = await resolveCommit(repository.dir, `refs/heads/${name}`);
  if (!sha) throw new Refusal(404, 'Branch not found');
  const on = repository.protectedBranches.has(name);
  const self = `${repositoryUrl(state, repository)}/branches/${encodeURIComponent(name)}`;
  const checks = { enforcement_level: 'off', contexts: [], checks: [] };
  return {
    status: 200,
    body: {
      name,
      commit: await commitObject(state, repository, sha),
      _links: { self, html: `${repositoryHtmlUrl(state, repository)}/tree/${encodeURIComponent(name)}` },
      protected: on,
      protection: { enabled: on, required_status_checks: checks },
      protection_url: `${self}/protection`,
    },
  };
}

/** One side of a comparison: a branch, a commit, or `owner:branch` of a fork, whose objects are brought over. */
async function sideOf(call: RepositoryCall, name: string): Promise<string> {
  const { state, repository } = call;
  const [, owner, ref = name] = /^([^:]+):(.+)$/.exec(name) ?? [];
  const other = owner === undefined ? repository : findRepository(state, owner, repository.name);
  if (!other) throw notFound();
  const sha = await resolveCommit(other.dir, ref);
  if (!sha) throw notFound();
  if (other !== repository) await git(repository.dir, ['fetch', '-q', other.dir, sha]);
  return sha;
}

async function compare(call: RepositoryCall): Promise<Reply> {
  const { state, repository, query } = call;
  const { dir } = repository;
  const basehead = call.params['basehead'] ?? '';
  const [, baseName, headName] = /^(.+?)\.\.\.?(.+)$/.exec(basehead) ?? [];
  if (baseName === undefined || headName === undefined) throw notFound();
  const base = await sideOf(call, baseName);
  const head = await sideOf(call, headName);
  const fork = await mergeBase(dir, base, head);
  if (fork === null) throw new Refusal(404, `No common ancestor between ${baseName} and ${headName}.`);
  const ids = (await gitText(dir, ['rev-list', '--reverse', '--topo-order', `${base}..${head}`])).split('\n');
  const ahead = ids.filter(Boolean);
  const behind = Number(await gitText(dir, ['rev-list', '--count', `${head}..${base}`]));
  const status = ahead.length > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical';
  // Without paging GitHub shows the newest 250; with it all can be had, and files only on the first page.
  const paged = query['page'] !== undefined || query['per_page'] !== undefined;
  const { page, headers } = paged ? paginate(call, ahead) : { page: ahead.slice(-maxCommits), headers: {} };
  const firstPage = Number(query['page'] ?? 1) === 1;
  const html = `${repositoryHtmlUrl(state, repository)}/compare/${encodeURIComponent(basehead)}`;
  return {
    status: 200,
    headers,
    body: {
      url: `${repositoryUrl(state, repository)}/compare/${encodeURIComponent(basehead)}`,
      html_url: html,
      permalink_url: `${repositoryHtmlUrl(state, repository)}/compare/${base}...${head}`,
      diff_url: `${html}.diff`,
      patch_url: `${html}.patch`,
      base_commit: await commitObject(state, repository, base),
      merge_base_commit: await commitObject(state, repository, fork),
      status: status,
      ahead_by: ahead.length,
      behind_by: behind,
      total_commits: ahead.length,
      commits: await Promise.all(page.map((sha) => commitObject(state, repository, sha))),
      ...(firstPage ? { files: await changedFiles(state, repository, fork, head, maxFiles) } : {}),
    },
  };
}

const as = 'installation';
const needs = { contents: 'read' } as const;

export const branchRoutes: Route[] = [
  { method: 'GET', path: '/repos/{owner}/{repo}/branches/{branch}', as, needs, handle: readBranch },
  { method: 'GET', path: '/repos/{owner}/{repo}/compare/{basehead}', as, needs, handle: compare },
];
