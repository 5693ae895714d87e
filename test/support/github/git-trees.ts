import { permits } from './auth.ts';
import { git, tryGit } from './git.ts';
import { typeOf, writeBlob } from './git-blobs.ts';
import { repositoryUrl } from './objects.ts';
import { type Json, notFound, Refusal, type Reply, type RepositoryCall, type Route } from './router.ts';
import { putFile, readFiles, removePath, type TreeFile, writeFiles } from './write-tree.ts';

/** What one tree may have: entries, and bytes of the array that lists them. */
const maxEntries = 100_000;
const maxBytes = 7 * 1024 * 1024;

const typeOfMode: Readonly<Record<string, string>> = {
  '100644': 'blob',
  '100755': 'blob',
  '120000': 'blob',
  '040000': 'tree',
  '160000': 'commit',
};

export function isWorkflow(path: string): boolean {
  return path.startsWith('.github/workflows/');
}

function unprocessable(message: string): Refusal {
  return new Refusal(422, message);
}

async function createTree(call: RepositoryCall): Promise<Reply> {
  const { repository, body, caller } = call;
  const { dir } = repository;
  const entries = body['tree'] as Json[];
  if (entries.length === 0) throw unprocessable('Invalid tree info');
  if (entries.length > maxEntries || Buffer.byteLength(JSON.stringify(entries)) > maxBytes) {
    throw unprocessable(`The tree is too large: at most ${maxEntries} entries and ${maxBytes} bytes`);
  }
  const paths = entries.map(pathOf);
  if (new Set(paths).size < paths.length) throw unprocessable('tree contains duplicate file entries');
  if (paths.some(isWorkflow) && !permits(caller, { workflows: 'write' })) {
    throw new Refusal(403, 'Resource not accessible by integration');
  }
  const base = body['base_tree'];
  const files = base === undefined ? new Map<string, TreeFile>() : await readBase(dir, String(base));
  // Everything is checked before a blob is written or a path is changed.
  for (const entry of entries) await checkEntry(dir, entry);
  for (const [at, entry] of entries.entries()) await applyEntry(dir, files, paths[at] ?? '', entry);
  const sha = await writeFiles(dir, files);
  return { status: 201, body: await treeObject(call, sha, false) };
}

async function readBase(dir: string, base: string): Promise<Map<string, TreeFile>> {
  const type = await typeOf(dir, base);
  if (type !== 'tree' && type !== 'commit') throw unprocessable('base_tree is not a valid tree oid');
  return readFiles(dir, base);
}

/** The path of an entry as git's bytes, one character each. */
function pathOf(entry: Json): string {
  const path = entry['path'];
  if (typeof path !== 'string' || path === '') throw unprocessable('Must supply a valid tree.path');
  if (path.startsWith('/')) throw unprocessable('tree.path cannot start with a slash');
  const malformed = (part: string) =>
    part === '' || part === '.' || part === '..' || /^(\.git|git~1)$/i.test(part) || part.includes('\0');
  if (path.split('/').some(malformed)) {
    throw unprocessable('tree.path contains a malformed path component');
  }
  return Buffer.from(path, 'utf8').toString('latin1');
}

async function checkEntry(dir: string, entry: Json): Promise<void> {
  const { mode, type, sha, content } = entry;
  const wanted = typeOfMode[String(mode)];
  if (wanted === undefined) throw unprocessable('Must supply a valid tree.mode');
  if (type !== undefined && type !== wanted) throw unprocessable('tree.type does not match tree.mode');
  if (sha !== undefined && content !== undefined) {
    throw unprocessable('Must supply either tree.sha or tree.content, not both');
  }
  if (sha === undefined && (content === undefined || wanted !== 'blob')) {
    throw unprocessable('Must supply either tree.sha or tree.content');
  }
  if (typeof sha !== 'string') return;
  const known = wanted === 'commit' ? /^[0-9a-f]{40}$/.test(sha) : (await typeOf(dir, sha)) === wanted;
  if (!known) throw unprocessable(`tree.sha ${sha} is not a valid ${wanted}`);
}

async function applyEntry(
  dir: string,
  files: Map<string, TreeFile>,
  path: string,
  entry: Json,
): Promise<void> {
  const mode = String(entry['mode']);
  if (entry['sha'] === null) {
    if (!removePath(files, path)) throw unprocessable('GitRPC::BadObjectState');
    return;
  }
  if (mode === '040000') {
    removePath(files, path);
    for (const [below, file] of await readFiles(dir, String(entry['sha'])))
      putFile(files, `${path}/${below}`, file);
    return;
  }
  const content = entry['content'];
  const sha =
    content === undefined ? String(entry['sha']) : await writeBlob(dir, Buffer.from(String(content)));
  putFile(files, path, { mode, sha });
}

async function treeObject(call: RepositoryCall, sha: string, recursive: boolean): Promise<Json> {
  const { state, repository } = call;
  const api = `${repositoryUrl(state, repository)}/git`;
  const args = ['ls-tree', '-z', '-l', '--full-tree', ...(recursive ? ['-r', '-t'] : []), sha];
  const rows = (await git(repository.dir, args)).toString('utf8').split('\0').filter(Boolean);
  const tree: Json[] = [];
  let bytes = 0;
  for (const row of rows) {
    const tab = row.indexOf('\t');
    const [mode = '', type = '', id = '', size = '-'] = row.slice(0, tab).split(/ +/);
    const more = {
      ...(size === '-' ? {} : { size: Number(size) }),
      ...(type === 'commit' ? {} : { url: `${api}/${type}s/${id}` }),
    };
    const entry = { path: row.slice(tab + 1), mode, type, sha: id, ...more };
    bytes += Buffer.byteLength(JSON.stringify(entry));
    if (tree.length === maxEntries || bytes > maxBytes) break;
    tree.push(entry);
  }
  return { sha, url: `${api}/trees/${sha}`, tree, truncated: tree.length < rows.length };
}

/** A tree by its id, or by a commit or branch that has it. Any value of `recursive` counts, also 0. */
async function readTree(call: RepositoryCall): Promise<Reply> {
  const { dir } = call.repository;
  const name = call.params['tree_sha'] ?? '';
  if (name.startsWith('-')) throw notFound();
  for (const candidate of [name, `refs/heads/${name}`]) {
    const found = await tryGit(dir, ['rev-parse', '--verify', '-q', `${candidate}^{tree}`]);
    if (found.code !== 0) continue;
    const sha = found.stdout.toString('utf8').trim();
    return { status: 200, body: await treeObject(call, sha, call.query['recursive'] !== undefined) };
  }
  throw notFound();
}

const trees = '/repos/{owner}/{repo}/git/trees';
const as = 'installation';

export const treeRoutes: Route[] = [
  { method: 'POST', path: trees, as, needs: { contents: 'write' }, handle: createTree },
  { method: 'GET', path: `${trees}/{tree_sha}`, as, needs: { contents: 'read' }, handle: readTree },
];
