import { execa } from 'execa';
import { hostCommand } from '../host-command.ts';
import { keyOf } from './directory.ts';

const attribute = 'user.overlay.opaque';
const blockBytes = 512;

/**
 * Which of these directories of a layer hide what lies below them: an extended attribute says so, which node cannot
 * read and tar can. Paths are relative to `root`. Nothing in the directories is looked at. An agent cannot set the
 * attribute: the kernel gives one that was set through an overlay another name.
 */
export async function readOpaque(
  root: Buffer,
  paths: readonly Buffer[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const flags = [
    ...['--create', '--file=-', '--format=posix', '--blocking-factor=1', '--pax-option=delete=?time'],
    ...['--xattrs', `--xattrs-include=${attribute}`, '--no-recursion', '--null', '--files-from=-'],
  ];
  const { stdin: _, ...options } = hostCommand;
  const tar = execa('tar', flags, {
    ...options,
    cwd: root.toString(),
    input: Buffer.concat(paths.flatMap((path) => [Buffer.from('./'), path, Buffer.from([0])])),
    buffer: { stdout: false },
    cancelSignal: signal,
  });
  // What is wrong with what it says comes first.
  tar.catch(() => {});
  const opaque = new Set<string>();
  let told = 0;
  try {
    for await (const isOpaque of opaqueFlags(tar.stdout)) {
      const path = paths[told];
      told += 1;
      if (isOpaque && path !== undefined) opaque.add(keyOf(path));
    }
    await tar;
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  }
  if (told !== paths.length) throw new Error(`tar told of ${told} directories, not of ${paths.length}`);
  return opaque;
}

/** Of each directory in a tar archive (POSIX format) that comes in pieces, in order, whether it has the attribute. */
export async function* opaqueFlags(archive: AsyncIterable<Uint8Array>): AsyncGenerator<boolean> {
  let held: Buffer = Buffer.alloc(0);
  let opaque = false;
  for await (const piece of archive) {
    held = Buffer.concat([held, piece]);
    let at = 0;
    while (at + blockBytes <= held.length) {
      const block = held.subarray(at, at + blockBytes);
      // Blocks of zeros end it.
      const size = block[0] === 0 ? 0 : Number.parseInt(block.toString('latin1', 124, 135), 8);
      const body = at + blockBytes;
      const end = body + Math.ceil(size / blockBytes) * blockBytes;
      if (end > held.length) break;
      at = end;
      if (block[0] === 0) continue;
      const type = block.toString('latin1', 156, 157);
      if (type === 'x') {
        const value = paxRecords(held.subarray(body, body + size)).get(`SCHILY.xattr.${attribute}`);
        opaque = value === 'y';
      } else if (type === '5') {
        yield opaque;
        opaque = false;
      } else throw new Error(`tar told of something of type ${JSON.stringify(type)}, not of a directory`);
    }
    held = held.subarray(at);
  }
}

/** Records `<length> <key>=<value>\n`, where the length counts the whole record. */
function paxRecords(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(' ', at);
    const length = Number.parseInt(bytes.toString('latin1', at, blank), 10);
    if (blank < 0 || !(length > 0)) throw new Error('tar wrote a header that cannot be read');
    const [key = '', ...value] = bytes.toString('latin1', blank + 1, at + length - 1).split('=');
    records.set(key, value.join('='));
    at += length;
  }
  return records;
}
