import { lookup } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';

/** Addresses tried of one name. */
const maxAddresses = 4;

/** Lookups under way. Each takes one of few threads, which the rest of the worker wants too: one a name is enough. */
const lookups = new Map<string, Promise<readonly string[]>>();

/** As the machine does it, `/etc/hosts` and all. Rejects with the signal's reason, though the lookup goes on. */
export async function resolveByMachine(host: string, signal: AbortSignal): Promise<readonly string[]> {
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return await Promise.race([lookups.get(host) ?? lookUp(host), late]);
}

function lookUp(host: string): Promise<readonly string[]> {
  const found = lookup(host, { all: true, verbatim: true })
    .then((all) => all.map(({ address }) => address))
    .finally(() => lookups.delete(host));
  lookups.set(host, found);
  return found;
}

/** A connection to the first address that takes one; addresses alone, so that nothing is looked up again. */
export async function connectTo(
  addresses: readonly string[],
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown = new Error('no address');
  for (const address of addresses.slice(0, maxAddresses)) {
    try {
      return await connectOne(address, port, signal);
    } catch (thrown) {
      signal.throwIfAborted();
      last = thrown;
    }
  }
  throw last;
}

function connectOne(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true });
    const aborted = () => socket.destroy(signal.reason instanceof Error ? signal.reason : undefined);
    const failed = (error: Error) => {
      signal.removeEventListener('abort', aborted);
      reject(error);
    };
    signal.addEventListener('abort', aborted, { once: true });
    socket.once('error', failed);
    socket.once('connect', () => {
      signal.removeEventListener('abort', aborted);
      socket.off('error', failed);
      socket.on('error', () => {});
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}
