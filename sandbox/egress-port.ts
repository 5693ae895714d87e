import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import {
  type EgressTransport,
  egressDirectory,
  egressPort,
  egressSocketName,
  maxEgressConnections,
} from './egress-place.ts';

/** How long the worker's socket may take to answer before the stream is used, ms. */
const probeMs = 2000;
const socketPath = join(egressDirectory, egressSocketName);

/**
 * Opens the proxy's port on the container's loopback. Each connection goes to the worker as it is, by the socket
 * where that can be connected to, else by a channel of `open`. Resolves once connections are taken.
 */
export async function openEgressPort(open: () => Duplex): Promise<EgressTransport> {
  const transport = (await canConnect()) ? 'socket' : 'stream';
  const live = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (live.size >= maxEgressConnections) return void socket.destroy();
    live.add(socket);
    const upstream = transport === 'socket' ? connect({ path: socketPath, allowHalfOpen: true }) : open();
    joinBoth(socket, upstream, () => live.delete(socket));
  });
  server.listen(egressPort, '127.0.0.1');
  await once(server, 'listening');
  return transport;
}

/** Whatever one says the other hears, until both have ended, or one breaks. */
function joinBoth(one: Duplex, other: Duplex, over: () => void): void {
  let open = 2;
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => {});
    from.once('close', () => {
      // Half of it broken, nothing more can come of the rest; with both halves ended this does nothing.
      if (!from.readableEnded || !from.writableFinished) to.destroy();
      open -= 1;
      if (open === 0) over();
    });
  }
}

async function canConnect(): Promise<boolean> {
  const probe = connect(socketPath);
  try {
    await once(probe, 'connect', { signal: AbortSignal.timeout(probeMs) });
    return true;
  } catch {
    return false;
  } finally {
    probe.destroy();
  }
}
