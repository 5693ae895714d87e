import { git, resolveCommit } from './git.ts';
import { repositoryHtmlUrl, repositoryObject, repositoryUrl, userObject } from './objects.ts';
import { type Json, notFound, Refusal, type Reply, type RepositoryCall, type Route } from './router.ts';
import type { Role } from './state.ts';

interface Entry {
  readonly mode: string;
  readonly sha: string;
  readonly size: number;
  readonly path: string;
}

/** Above this GitHub sends no content (the raw media type still does). */
const maxInlineBytes = 1024 * 1024;

async function readContents(call: RepositoryCall): Promise<Reply> {
  const { repository } = call;
  const path = (call.params['path'] ?? '').replace(/\/+$/, '');
  const ref = call.query['ref'] ?? repository.defaultBranch;
  const commit = await resolveCommit(repository.dir, ref);
  if (!commit) throw new Refusal(404, `No commit found for the ref ${ref}`);
  const own = (await listTree(repository.dir, commit, path)).find((entry) => entry.path === path);
  if (!own) throw notFound();
  if (own.mode === '040000') {
    const children = await listTree(repository.dir, commit, `${path}/`);
    return { status: 200, body: children.map((child) => entryObject(call, ref, child)) };
  }
  if (own.mode === '160000') {
    return { status: 200, body: { ...entryObject(call, ref, own), submodule_git_url: null } };
  }
  const bytes = await git(repository.dir, ['cat-file', 'blob', own.sha]);
  if (/vnd\.github\.(v3\.)?raw/.test(call.headers.accept ?? '')) return { status: 200, body: bytes };
  if (own.mode === '120000') {
    return { status: 200, body: { ...entryObject(call, ref, own), target: bytes.toString('utf8') } };
  }
  const inline = bytes.length <= maxInlineBytes;
  const content = inline ? bytes.toString('base64').replace(/.{60}/g, '$&\n') : '';
  return {
    status: 200,
    body: { ...entryObject(call, ref, own), content, encoding: inline ? 'base64' : 'none' },
  };
}

async function listTree(dir: string, commit: string, path: string): Promise<Entry[]> {
  const listing = await git(dir, ['ls-tree', '-z', '-l', commit, '--', path]);
  const rows = listing.toString('utf8').split('\0').filter(Boolean);
  return rows.map((row) => {
    const tab = row.indexOf('\t');
    const [mode = '', , sha = '', size = '-'] = row.slice(0, tab).split(/ +/);
    return { mode, sha, size: size === '-' ? 0 : Number(size), path: row.slice(tab + 1) };
  });
}

function entryObject(call: RepositoryCall, ref: string, entry: Entry): Json {
  const types: Record<string, string> = { '040000': 'dir', '120000': 'symlink', '160000': 'submodule' };
  const type = types[entry.mode] ?? 'file';
  const api = repositoryUrl(call.state, call.repository);
  const html = repositoryHtmlUrl(call.state, call.repository);
  const encoded = entry.path.split('/').map(encodeURIComponent).join('/');
  const self = `${api}/contents/${encoded}?ref=${encodeURIComponent(ref)}`;
  const object = `${api}/git/${type === 'dir' ? 'trees' : 'blobs'}/${entry.sha}`;
  const page = `${html}/${type === 'dir' ? 'tree' : 'blob'}/${encodeURIComponent(ref)}/${encoded}`;
  return {
    name: entry.path.split('/').at(-1) ?? '',
    path: entry.path,
    sha: entry.sha,
    size: entry.size,
    url: self,
    html_url: page,
    git_url: object,
    download_url: type === 'file' ? `${html}/raw/${encodeURIComponent(ref)}/${encoded}` : null,
    type,
    _links: { self, git: object, html: page },
  };
}

/** `permission` is the coarse, old scale; `role_name` the finer one. */
const coarse: Readonly<Record<Role, string>> = {
  admin: 'admin',
  maintain: 'write',
  write: 'write',
  triage: 'read',
  read: 'read',
  none: 'none',
};

function readPermission(call: RepositoryCall): Reply {
  const { state, repository } = call;
  const login = (call.params['username'] ?? '').toLowerCase();
  const user = state.users.get(login);
  if (!user) throw new Refusal(404, `${call.params['username']} is not a user`);
  const fallback = repository.private ? 'none' : 'read';
  const own = user.id === repository.owner.id ? 'admin' : fallback;
  const given = repository.roles.get(login) ?? { role: own, roleName: own };
  const { role, roleName } = user.type === 'Bot' ? { role: 'none' as const, roleName: 'none' } : given;
  const order = ['none', 'read', 'triage', 'write', 'maintain', 'admin'];
  const atLeast = (name: string) => order.indexOf(role) >= order.indexOf(name);
  const permissions = {
    pull: atLeast('read'),
    triage: atLeast('triage'),
    push: atLeast('write'),
    maintain: atLeast('maintain'),
    admin: atLeast('admin'),
  };
  return {
    status: 200,
    body: {
      permission: coarse[role],
      role_name: roleName,
      user: { ...userObject(state, user), permissions, role_name: roleName },
    },
  };
}

export const repositoryRoutes: Route[] = [
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}',
    as: 'installation',
    needs: { metadata: 'read' },
    handle: (call) => ({ status: 200, body: repositoryObject(call.state, call.repository) }),
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/collaborators/{username}/permission',
    as: 'installation',
    needs: { metadata: 'read' },
    handle: readPermission,
  },
  {
    method: 'GET',
    path: '/repos/{owner}/{repo}/contents/{path}',
    as: 'installation',
    needs: { contents: 'read' },
    handle: readContents,
  },
];
