import type { Json } from './router.ts';
import type { App, Installation, Label, Permissions, Repository, State, User } from './state.ts';

/** The objects that every answer and every payload is made of, in GitHub's full form. */

export function nodeId(kind: string, id: number): string {
  return Buffer.from(`${kind}:${id}`).toString('base64url');
}

export function userObject(state: State, user: User): Json {
  const api = `${state.url}/users/${encodeURIComponent(user.login)}`;
  const html = user.type === 'Bot' ? `apps/${user.login.replace(/\[bot\]$/, '')}` : user.login;
  return {
    login: user.login,
    id: user.id,
    node_id: nodeId('User', user.id),
    avatar_url: `${state.url}/avatars/u/${user.id}`,
    gravatar_id: '',
    url: api,
    html_url: `${state.url}/${html}`,
    followers_url: `${api}/followers`,
    following_url: `${api}/following{/other_user}`,
    gists_url: `${api}/gists{/gist_id}`,
    starred_url: `${api}/starred{/owner}{/repo}`,
    subscriptions_url: `${api}/subscriptions`,
    organizations_url: `${api}/orgs`,
    repos_url: `${api}/repos`,
    events_url: `${api}/events{/privacy}`,
    received_events_url: `${api}/received_events`,
    type: user.type,
    site_admin: false,
    user_view_type: 'public',
  };
}

export function repositoryUrl(state: State, repository: Repository): string {
  return `${state.url}/repos/${repository.owner.login}/${repository.name}`;
}

export function repositoryHtmlUrl(state: State, repository: Repository): string {
  return `${state.url}/${repository.owner.login}/${repository.name}`;
}

export function repositoryObject(state: State, repository: Repository): Json {
  const api = repositoryUrl(state, repository);
  const html = repositoryHtmlUrl(state, repository);
  const open = [...repository.issues.values()].filter((issue) => issue.state === 'open').length;
  const forks = [...state.repositories.values()].filter((other) => other.parentId === repository.id).length;
  return {
    id: repository.id,
    node_id: nodeId('Repository', repository.id),
    name: repository.name,
    full_name: `${repository.owner.login}/${repository.name}`,
    private: repository.private,
    owner: userObject(state, repository.owner),
    html_url: html,
    description: null,
    fork: repository.parentId !== null,
    url: api,
    ...repositoryLinks(api),
    created_at: repository.createdAt,
    updated_at: repository.pushedAt,
    pushed_at: repository.pushedAt,
    git_url: `${html.replace(/^http/, 'git')}.git`,
    ssh_url: `ssh://git@localhost/${repository.owner.login}/${repository.name}.git`,
    clone_url: `${html}.git`,
    svn_url: html,
    homepage: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    forks_count: forks,
    mirror_url: null,
    archived: false,
    disabled: false,
    open_issues_count: open,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.private ? 'private' : 'public',
    forks,
    open_issues: open,
    watchers: 0,
    default_branch: repository.defaultBranch,
    network_count: forks,
    subscribers_count: 1,
  };
}

function repositoryLinks(api: string): Json {
  const plain = [
    'contributors',
    'deployments',
    'downloads',
    'events',
    'forks',
    'hooks',
    'languages',
    'merges',
  ];
  const more = ['stargazers', 'subscribers', 'subscription', 'tags', 'teams'];
  const links: Json = {
    archive_url: `${api}/{archive_format}{/ref}`,
    assignees_url: `${api}/assignees{/user}`,
    blobs_url: `${api}/git/blobs{/sha}`,
    branches_url: `${api}/branches{/branch}`,
    collaborators_url: `${api}/collaborators{/collaborator}`,
    comments_url: `${api}/comments{/number}`,
    commits_url: `${api}/commits{/sha}`,
    compare_url: `${api}/compare/{base}...{head}`,
    contents_url: `${api}/contents/{+path}`,
    git_commits_url: `${api}/git/commits{/sha}`,
    git_refs_url: `${api}/git/refs{/sha}`,
    git_tags_url: `${api}/git/tags{/sha}`,
    issue_comment_url: `${api}/issues/comments{/number}`,
    issue_events_url: `${api}/issues/events{/number}`,
    issues_url: `${api}/issues{/number}`,
    keys_url: `${api}/keys{/key_id}`,
    labels_url: `${api}/labels{/name}`,
    milestones_url: `${api}/milestones{/number}`,
    notifications_url: `${api}/notifications{?since,all,participating}`,
    pulls_url: `${api}/pulls{/number}`,
    releases_url: `${api}/releases{/id}`,
    statuses_url: `${api}/statuses/{sha}`,
    trees_url: `${api}/git/trees{/sha}`,
  };
  for (const name of [...plain, ...more]) links[`${name}_url`] = `${api}/${name}`;
  return links;
}

/** The app itself, or by its id another one, as a check run names its maker. */
export function appObject(state: State, id: number = state.app.id): Json {
  if (id !== state.app.id) {
    const slug = id === actionsAppId ? 'github-actions' : `app-${id}`;
    const url = `${state.url}/apps/${slug}`;
    const node = nodeId('App', id);
    const own = {
      id,
      slug,
      node_id: node,
      client_id: `Iv1.${id}`,
      name: slug,
      external_url: url,
      html_url: url,
    };
    return { ...appObject(state), ...own, permissions: { checks: 'write', metadata: 'read' }, events: [] };
  }
  const app: App = state.app;
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    client_id: app.clientId,
    owner: userObject(state, app.owner),
    name: app.name,
    description: 'An app of the double.',
    external_url: `${state.url}/apps/${app.slug}`,
    html_url: `${state.url}/apps/${app.slug}`,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    permissions: app.permissions,
    events: app.events,
  };
}

export function installationObject(state: State, installation: Installation): Json {
  const permissions: Permissions = installation.permissions;
  return {
    id: installation.id,
    account: userObject(state, installation.account),
    repository_selection: installation.repositoryIds === null ? 'all' : 'selected',
    access_tokens_url: `${state.url}/app/installations/${installation.id}/access_tokens`,
    repositories_url: `${state.url}/installation/repositories`,
    html_url: `${state.url}/settings/installations/${installation.id}`,
    app_id: state.app.id,
    client_id: state.app.clientId,
    app_slug: state.app.slug,
    target_id: installation.account.id,
    target_type: installation.account.type,
    permissions,
    events: state.app.events,
    created_at: installation.createdAt,
    updated_at: installation.createdAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: installation.suspended ? installation.createdAt : null,
  };
}

/** Id of GitHub Actions, whose check runs most repositories have. */
export const actionsAppId = 15_368;

export function labelObject(state: State, repository: Repository, label: Label): Json {
  return {
    id: label.id,
    node_id: nodeId('Label', label.id),
    url: `${repositoryUrl(state, repository)}/labels/${encodeURIComponent(label.name)}`,
    name: label.name,
    color: label.color,
    default: label.default,
    description: label.description,
  };
}

/** GitHub tells bots, owners and everyone else apart here; the product must not rely on it. */
export function association(repository: Repository, user: User): string {
  const chosen = repository.associations.get(user.login.toLowerCase());
  if (chosen !== undefined) return chosen;
  if (user.id === repository.owner.id) return 'OWNER';
  const role = repository.roles.get(user.login.toLowerCase())?.role ?? 'none';
  return role === 'none' || role === 'read' ? 'NONE' : 'COLLABORATOR';
}
