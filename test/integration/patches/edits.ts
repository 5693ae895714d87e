import fc from 'fast-check';
import type { TreeFile } from '../mirror/build-repository.ts';

/** Generated trees and what an agent does to them. */

const component = fc.constantFrom(
  ...['a', 'b', 'c.txt', 'src', 'b c', 'ü', 'u\u0308', '日本', 'q"uote\'s', '[id]', '*'],
  ...['-rf', 'a\\b', '.hidden', '...', ':(top)x', 'end ', 'A', '{x,y}', '.gitattributes', '\ufeffbom'],
);
/**
 * No directory ends with a blank: `git apply` cannot read the header that git itself writes for an empty file, or
 * a change of mode, below one ("git diff header lacks filename information"), so it could not be the judge.
 */
const path = fc
  .array(component, { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map((part, at) => (at < parts.length - 1 ? part.trimEnd() : part)).join('/'));

const line = fc.constantFrom(
  '',
  'one',
  'two',
  '  indented',
  '--- a/x',
  '+++ b/x',
  '@@ -1 +1 @@',
  '$Id$',
  'ü',
);
const text = fc
  .tuple(
    fc.array(line, { maxLength: 12 }),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
    fc.constantFrom('', '\ufeff'),
  )
  .map(([lines, end, final, bom]) => Buffer.from(bom + lines.join(end) + (final ? end : '')));
const content = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(
    Buffer.alloc(0),
    Buffer.from([0]),
    Buffer.from('* text=auto eol=crlf ident filter=lfs working-tree-encoding=UTF-16 merge=union -diff\n'),
    Buffer.from(`${'line\n'.repeat(300)}`),
  ),
);
const mode = fc.constantFrom('100644', '100755');

export interface Edit {
  readonly kind: 'write' | 'delete' | 'rename' | 'chmod';
  /** Which of the files there are, modulo their number; or, for `write`, none. */
  readonly index: number;
  readonly path: string;
  readonly content: Buffer;
  readonly executable: boolean;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('write', 'write', 'delete', 'rename', 'chmod'),
  index: fc.nat(20),
  path,
  content,
  executable: fc.boolean(),
});

export const change = fc.record({
  base: fc.array(fc.record({ path, mode, content }), { minLength: 1, maxLength: 8 }).map(consistent),
  edits: fc.array(edit, { maxLength: 8 }),
});

/** No path twice, and none below a file. */
function consistent(files: readonly { path: string; mode: string; content: Buffer }[]): TreeFile[] {
  const kept: { path: string; mode: '100644' | '100755'; content: Buffer }[] = [];
  for (const file of files) {
    const clash = kept.some(
      (other) =>
        other.path === file.path ||
        other.path.startsWith(`${file.path}/`) ||
        file.path.startsWith(`${other.path}/`),
    );
    if (!clash) kept.push({ ...file, mode: file.mode as '100644' });
  }
  return kept;
}

/**
 * Reads edits (JSON, contents in base64) on its input and makes them below the working directory, with the times
 * of everything set to the same moment. Run by node, on the host or in a container.
 */
export const applyScript = `
  const fs = require('node:fs');
  const { dirname } = require('node:path');
  const { edits, files } = JSON.parse(fs.readFileSync(0, 'utf8'));
  const look = (path) => {
    try {
      return fs.lstatSync(path);
    } catch {
      return null;
    }
  };
  const clear = (path) => {
    const parts = path.split('/');
    for (let count = 1; count < parts.length; count += 1) {
      const parent = parts.slice(0, count).join('/');
      const stat = look(parent);
      if (stat && !stat.isDirectory()) fs.rmSync(parent);
    }
    fs.rmSync(path, { recursive: true, force: true });
    fs.mkdirSync(dirname(path), { recursive: true });
  };
  const write = (path, content, executable) => {
    clear(path);
    fs.writeFileSync(path, content);
    fs.chmodSync(path, executable ? 0o755 : 0o644);
    fs.utimesSync(path, 1e9, 1e9);
    files.push(path);
  };
  for (const edit of edits) {
    const path = files[edit.index % files.length];
    const stat = look(path);
    if (edit.kind === 'write') write(edit.path, Buffer.from(edit.content, 'base64'), edit.executable);
    else if (!stat || !stat.isFile()) continue;
    else if (edit.kind === 'delete') fs.rmSync(path);
    else if (edit.kind === 'chmod') fs.chmodSync(path, edit.executable ? 0o755 : 0o644);
    else {
      const content = Buffer.concat([fs.readFileSync(path), Buffer.from(edit.content, 'base64')]);
      fs.rmSync(path);
      write(edit.path, content, edit.executable);
    }
  }
`;

export const applyInput = (base: readonly TreeFile[], edits: readonly Edit[]): string =>
  JSON.stringify({
    files: base.map((file) => String(file.path)),
    edits: edits.map((one) => ({ ...one, content: one.content.toString('base64') })),
  });
