import { git } from './git.ts';

/**
 * A file of a commit: text, bytes, bytes in base64 (for the control API), with a mode, or null to delete it.
 * Mode 120000 is a symlink (content is its target), 160000 a submodule (content is its commit id).
 */
export type FileContent =
  | string
  | Buffer
  | { readonly mode?: FileMode; readonly content?: string | Buffer; readonly base64?: string }
  | null;
export type FileMode = '100644' | '100755' | '120000' | '160000';
export type Files = Readonly<Record<string, FileContent>>;

export interface CommitRequest {
  /** Full name of the ref to move. */
  readonly ref: string;
  readonly parents: readonly string[];
  readonly files: Files;
  readonly message: string;
  readonly author: string;
  /** Seconds since the epoch, so that ids are the same in every run. */
  readonly time: number;
  /** Start from an empty tree instead of the first parent's. */
  readonly fresh?: boolean;
}

/** Makes a commit byte by byte with fast-import: no work tree, no filters, any file name. Returns its id. */
export async function commitFiles(dir: string, request: CommitRequest): Promise<string> {
  const parts: Buffer[] = [];
  const line = (text: string) => parts.push(Buffer.from(`${text}\n`, 'utf8'));
  const data = (bytes: Buffer) => {
    line(`data ${bytes.length}`);
    parts.push(bytes, Buffer.from('\n'));
  };
  line('feature done');
  line(`commit ${request.ref}`);
  line('mark :1');
  line(`committer ${request.author} <${request.author}@example.com> ${request.time} +0000`);
  data(Buffer.from(request.message, 'utf8'));
  request.parents.forEach((parent, index) => {
    line(`${index === 0 ? 'from' : 'merge'} ${parent}`);
  });
  if (request.fresh) line('deleteall');
  for (const [path, file] of Object.entries(request.files)) {
    const quoted = quotePath(path);
    if (file === null) {
      line(`D ${quoted}`);
      continue;
    }
    const { mode, bytes } = modeAndBytes(file);
    if (mode === '160000') {
      line(`M 160000 ${bytes.toString('utf8')} ${quoted}`);
      continue;
    }
    line(`M ${mode} inline ${quoted}`);
    data(bytes);
  }
  line('');
  line('get-mark :1');
  line('done');
  const args = ['-c', 'core.logAllRefUpdates=false', 'fast-import', '--force', '--quiet'];
  return (await git(dir, args, Buffer.concat(parts))).toString('utf8').trim();
}

function modeAndBytes(file: Exclude<FileContent, null>): { mode: FileMode; bytes: Buffer } {
  if (typeof file === 'string') return { mode: '100644', bytes: Buffer.from(file, 'utf8') };
  if (Buffer.isBuffer(file)) return { mode: '100644', bytes: file };
  const mode = file.mode ?? '100644';
  if (file.base64 !== undefined) return { mode, bytes: Buffer.from(file.base64, 'base64') };
  const content = file.content ?? '';
  return { mode, bytes: typeof content === 'string' ? Buffer.from(content, 'utf8') : content };
}

/** C-style quoting as fast-import reads it; bytes above 0x7f may stand as they are. */
function quotePath(path: string): string {
  const quoted = Array.from(path, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    const code = character.charCodeAt(0);
    return code < 0x20 || code === 0x7f ? `\\${code.toString(8).padStart(3, '0')}` : character;
  });
  return `"${quoted.join('')}"`;
}
