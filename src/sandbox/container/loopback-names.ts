import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Name of a sandbox's machine, inside. */
export const sandboxHostname = 'sandbox';

const names = `127.0.0.1\tlocalhost
127.0.1.1\t${sandboxHostname}
::1\tlocalhost ip6-localhost ip6-loopback
`;

/**
 * Makes the file at `path`, unless it is there, that sandboxes have as `/etc/hosts`. An engine writes one for containers
 * with a network alone; an empty one leaves `localhost`, where tests have their servers, without an address.
 */
export async function ensureLoopbackNames(path: string): Promise<string> {
  if ((await readFile(path, 'utf8').catch(() => null)) === names) return path;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const aside = `${path}-${randomBytes(8).toString('hex')}`;
  await writeFile(aside, names, { mode: 0o444 });
  await rename(aside, path);
  return path;
}
