import { git } from './git.ts';
import { repositoryHtmlUrl, repositoryUrl } from './objects.ts';
import type { Json } from './router.ts';
import type { Repository, State } from './state.ts';

/** GitHub shows no patch that is larger. */
const maxPatch = 1024 * 1024;

const statusOf: Readonly<Record<string, string>> = {
  A: 'added',
  C: 'copied',
  D: 'removed',
  M: 'modified',
  R: 'renamed',
  T: 'changed',
};

interface Change {
  readonly status: string;
  readonly blob: string;
  readonly path: string;
  readonly from: string | null;
}

/** What differs between two commits, as lists of files show it: renames found, at most `limit` files. */
export async function changedFiles(
  state: State,
  repository: Repository,
  from: string,
  to: string,
  limit: number,
): Promise<Json[]> {
  const { dir } = repository;
  const raw = (await git(dir, ['diff', '--raw', '-z', '-M', '--abbrev=40', from, to])).toString('utf8');
  const args = ['diff', '--no-color', '--no-ext-diff', '--no-textconv', '-U3', '-M', from, to];
  // No line of content starts with this: each has a sign before it.
  const sections = (await git(dir, args))
    .toString('utf8')
    .split(/^diff --git /m)
    .slice(1);
  const found: Json[] = [];
  let at = 0;
  for (const change of parseRaw(raw.split('\0'))) {
    // A changed type is shown as a deletion and an addition.
    const size = change.status === 'T' ? 2 : 1;
    const patches = sections.slice(at, at + size).map(hunksOf);
    at += size;
    if (found.length < limit) found.push(fileObject(state, repository, { from, to }, change, patches));
  }
  return found;
}

/** A section from its first hunk on; empty for binary files and mode changes. */
function hunksOf(section: string): string {
  const start = section.indexOf('\n@@ ');
  return start < 0 ? '' : section.slice(start + 1).replace(/\n$/, '');
}

function parseRaw(fields: readonly string[]): Change[] {
  const changes: Change[] = [];
  for (let i = 0; i + 1 < fields.length; ) {
    const [, , before = '', after = '', status = ''] = (fields[i] ?? '').split(' ');
    const twoNames = /^[RC]/.test(status);
    const first = fields[i + 1] ?? '';
    const path = twoNames ? (fields[i + 2] ?? '') : first;
    const blob = status.startsWith('D') ? before : after;
    changes.push({ status: status.slice(0, 1), blob, path, from: twoNames ? first : null });
    i += twoNames ? 3 : 2;
  }
  return changes;
}

function fileObject(
  state: State,
  repository: Repository,
  { from, to }: { from: string; to: string },
  { status, blob, path, from: earlier }: Change,
  patches: readonly string[],
): Json {
  const patch = patches.filter(Boolean).join('\n');
  const count = (sign: string) => patch.split('\n').filter((line) => line.startsWith(sign)).length;
  const [additions, deletions] = [count('+'), count('-')];
  const encoded = path.split('/').map(encodeURIComponent).join('/');
  const at = status === 'D' ? from : to;
  const html = repositoryHtmlUrl(state, repository);
  return {
    sha: blob,
    filename: path,
    status: statusOf[status] ?? 'changed',
    additions,
    deletions,
    changes: additions + deletions,
    blob_url: `${html}/blob/${at}/${encoded}`,
    raw_url: `${html}/raw/${at}/${encoded}`,
    contents_url: `${repositoryUrl(state, repository)}/contents/${encoded}?ref=${at}`,
    ...(patch !== '' && patch.length <= maxPatch ? { patch } : {}),
    ...(earlier === null ? {} : { previous_filename: earlier }),
  };
}
