import { isUtf8 } from 'node:buffer';
import { PatchfleetError } from '../domain/failure.ts';
import type { PatchEntry } from '../domain/patch.ts';
import type { InstallationClient, Mirror } from '../github/port.ts';
import { type Answer, ask } from './ask-github.ts';

/** Bytes of text in one request for a tree; what is beyond goes up as blobs. */
const inlineBytes = 5_000_000;
/** GitHub's limit of a blob. */
const maxBlobBytes = 100_000_000;

export interface TreeTarget {
  readonly client: InstallationClient;
  readonly owner: string;
  readonly repo: string;
  readonly signal: AbortSignal;
}

type TreeEntry = { path: string; mode: FileMode; type: 'blob' } & (
  | { content: string }
  | { sha: string | null }
);
type FileMode = '100644' | '100755';

/**
 * Makes the tree of `baseTree` with the entries applied at GitHub and returns its SHA. Text goes inline, all else
 * as blobs. Objects are known by their content: making one twice changes nothing.
 */
export async function writeGitHubTree(
  target: TreeTarget,
  mirror: Pick<Mirror, 'readBlob'>,
  baseTree: string,
  entries: readonly PatchEntry[],
): Promise<Answer<string>> {
  // What stands in the base is on GitHub already: renames and changes of mode send no content.
  const there = new Set(entries.flatMap(({ before }) => before?.blob ?? []));
  const tree: TreeEntry[] = [];
  let room = inlineBytes;
  for (const { path, file } of entries) {
    if (file === null) {
      tree.push({ path, mode: '100644', type: 'blob', sha: null });
      continue;
    }
    const at = { path, mode: file.mode, type: 'blob' as const };
    if (there.has(file.blob)) {
      tree.push({ ...at, sha: file.blob });
      continue;
    }
    const bytes = await mirror.readBlob(file.blob, maxBlobBytes);
    if (bytes.length <= room && isUtf8(bytes) && !bytes.includes(0)) {
      room -= bytes.length;
      tree.push({ ...at, content: bytes.toString('utf8') });
      continue;
    }
    const blob = await writeBlob(target, path, bytes);
    if (blob.refused !== null) return blob;
    if (blob.data !== file.blob) throw unequal(`the blob of ${path}`, file.blob, blob.data);
    tree.push({ ...at, sha: blob.data });
  }
  const { client, owner, repo, signal } = target;
  const answer = await ask('the tree could not be written', signal, () =>
    // Octokit's type knows no null, which is how GitHub is told to remove a file.
    client.rest.git.createTree({
      owner,
      repo,
      base_tree: baseTree,
      tree: tree as { path: string; mode: FileMode; type: 'blob'; content?: string; sha?: string | null }[],
      request: { signal },
    }),
  );
  return answer.refused === null ? { refused: null, data: answer.data.sha } : answer;
}

async function writeBlob(target: TreeTarget, path: string, bytes: Buffer): Promise<Answer<string>> {
  const { client, owner, repo, signal } = target;
  const answer = await ask(`the content of ${path} could not be written`, signal, () =>
    client.rest.git.createBlob({
      owner,
      repo,
      content: bytes.toString('base64'),
      encoding: 'base64',
      request: { signal },
    }),
  );
  return answer.refused === null ? { refused: null, data: answer.data.sha } : answer;
}

/** GitHub made something else of what it was sent: never to be published. */
export function unequal(what: string, verified: string, made: string): PatchfleetError {
  return new PatchfleetError('internal', `${what} is ${made} at GitHub, not ${verified} as verified`);
}
