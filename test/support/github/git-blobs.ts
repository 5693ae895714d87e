import { git, tryGit } from './git.ts';
import { nodeId, repositoryUrl } from './objects.ts';
import { invalid, notFound, Refusal, type Reply, type RepositoryCall, type Route } from './router.ts';

/** What GitHub takes by the API, and what it gives. */
const maxWrite = 40 * 1024 * 1024;
const maxRead = 100 * 1024 * 1024;

/** An id as the Git Data API wants it: in full. */
export function shaParam(call: RepositoryCall, name: string): string {
  const sha = call.params[name] ?? '';
  if (!/^[0-9a-f]{40}$/.test(sha)) {
    const rule = 'must be exactly 40 characters and contain only [0-9a-f].';
    throw new Refusal(422, `The sha parameter ${rule}`);
  }
  return sha;
}

/** `blob`, `tree`, `commit`, `tag`; null where the repository has no such object. */
export async function typeOf(dir: string, sha: string): Promise<string | null> {
  if (!/^[0-9a-f]{40}$/.test(sha)) return null;
  const { code, stdout } = await tryGit(dir, ['cat-file', '-t', sha]);
  return code === 0 ? stdout.toString('utf8').trim() : null;
}

export async function writeBlob(dir: string, bytes: Buffer): Promise<string> {
  const args = ['hash-object', '-w', '-t', 'blob', '--stdin', '--no-filters'];
  return (await git(dir, args, bytes)).toString('utf8').trim();
}

async function createBlob(call: RepositoryCall): Promise<Reply> {
  const { repository, body } = call;
  const bytes = bytesOf(String(body['content']), String(body['encoding'] ?? 'utf-8'));
  if (bytes.length > maxWrite) {
    const message = 'Sorry, your input was too large to process. Consider creating the blob in a local clone';
    throw invalid('Blob', 'data', 'too_large', `${message} of the repository and then pushing it to GitHub.`);
  }
  const sha = await writeBlob(repository.dir, bytes);
  return { status: 201, body: { sha, url: `${repositoryUrl(call.state, repository)}/git/blobs/${sha}` } };
}

function bytesOf(content: string, encoding: string): Buffer {
  if (encoding === 'utf-8') return Buffer.from(content, 'utf8');
  if (encoding !== 'base64') throw new Refusal(422, 'encoding must be "utf-8" or "base64"');
  const packed = content.replace(/[\r\n]/g, '');
  const wellFormed = /^[A-Za-z0-9+/]*={0,2}$/.test(packed) && packed.length % 4 === 0;
  if (!wellFormed) throw new Refusal(422, 'content is not valid Base64');
  return Buffer.from(packed, 'base64');
}

async function readBlob(call: RepositoryCall): Promise<Reply> {
  const { state, repository } = call;
  const sha = shaParam(call, 'file_sha');
  if ((await typeOf(repository.dir, sha)) !== 'blob') throw notFound();
  const bytes = await git(repository.dir, ['cat-file', 'blob', sha]);
  if (bytes.length > maxRead) throw new Refusal(403, 'The requested blob is too large to fetch via the API.');
  if (/vnd\.github\.(v3\.)?raw/.test(call.headers.accept ?? '')) return { status: 200, body: bytes };
  return {
    status: 200,
    body: {
      sha,
      node_id: nodeId(`Blob:${sha}`, repository.id),
      size: bytes.length,
      url: `${repositoryUrl(state, repository)}/git/blobs/${sha}`,
      content: bytes.toString('base64').replace(/.{60}/g, '$&\n'),
      encoding: 'base64',
    },
  };
}

const blobs = '/repos/{owner}/{repo}/git/blobs';
const as = 'installation';

export const blobRoutes: Route[] = [
  { method: 'POST', path: blobs, as, needs: { contents: 'write' }, handle: createBlob },
  { method: 'GET', path: `${blobs}/{file_sha}`, as, needs: { contents: 'read' }, handle: readBlob },
];
