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
  const { stdout } = await execa('tar', flags, {
    ...options,
    cwd: root.toString(),
    input: Buffer.concat(paths.flatMap((path) => [Buffer.from('./'), path, Buffer.from([0])])),
    encoding: 'buffer',
    cancelSignal: signal,
  }).catch((thrown: unknown) => {
    signal.throwIfAborted();
    throw thrown;
  });
  const answers = opaqueFlags(stdout);
  if (answers.length !== paths.length) {
    throw new Error(`tar told of ${answers.length} directories, not of ${paths.length}`);
  }
  return new Set(paths.flatMap((path, index) => (answers[index] === true ? [keyOf(path)] : [])));
}

/** Of each directory in a tar archive (POSIX format), in order, whether it has the attribute. */
export function opaqueFlags(archive: Uint8Array): boolean[] {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const flags: boolean[] = [];
  let opaque = false;
  for (let at = 0; at + blockBytes <= bytes.length; ) {
    const block = bytes.subarray(at, at + blockBytes);
    if (block[0] === 0) break;
    const size = Number.parseInt(block.toString('latin1', 124, 135), 8);
    const type = block.toString('latin1', 156, 157);
    at += blockBytes;
    if (type === 'x') {
      const value = paxRecords(bytes.subarray(at, at + size)).get(`SCHILY.xattr.${attribute}`);
      opaque = value === 'y';
    } else if (type === '5') {
      flags.push(opaque);
      opaque = false;
    } else throw new Error(`tar told of something of type ${JSON.stringify(type)}, not of a directory`);
    at += Math.ceil(size / blockBytes) * blockBytes;
  }
  return flags;
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
