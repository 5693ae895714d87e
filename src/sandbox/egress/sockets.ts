import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, open as openFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { egressSocketName } from '../../../sandbox/egress-place.ts';
import type { SandboxUser } from '../container/container-spec.ts';
import { removeTree } from '../remove-tree.ts';
import { workspaceId } from '../workspaces/workspaces.ts';

/** A socket in a directory of its own, to be mounted into one sandbox. */
export interface EgressSocket {
  readonly id: string;
  readonly directory: string;
  /** Takes no more connections, and removes socket and directory. */
  close(): Promise<void>;
}

/**
 * Makes a directory below `root` that the sandbox's user alone may look into, with a socket in it. Each connection
 * is given to `accept`.
 */
export async function openEgressSocket(
  root: string,
  worker: string,
  user: SandboxUser,
  accept: (connection: Socket) => void,
): Promise<EgressSocket> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  const id = workspaceId(worker, randomBytes(8).toString('hex'));
  const directory = join(root, id);
  await mkdir(directory, { mode: 0o700 });
  const handle = await openFile(directory, 'r');
  const server = createServer({ allowHalfOpen: true }, accept);
  const close = async () => {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
    await handle.close();
    await removeTree(directory);
  };
  try {
    // By the open directory, for the address of a socket may have 107 bytes and the data directory any length.
    const path = `/proc/self/fd/${handle.fd}/${egressSocketName}`;
    server.listen(path);
    await once(server, 'listening');
    server.on('error', () => {});
    await chmod(path, 0o600);
    if (process.getuid?.() === 0) for (const one of [path, directory]) await chown(one, user.uid, user.gid);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  return { id, directory, close };
}
