import { isIPv4, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { answer } from './answer.ts';
import type { Target } from './egress.ts';
import { forward } from './forward.ts';
import { type Beginning, maxHelloBytes, readBeginning } from './hello.ts';
import { inTime } from './in-time.ts';
import { createMeters } from './pass.ts';
import type { Passage } from './proxy.ts';
import { endOfHead, readUntil } from './read.ts';
import { maxHeadBytes, parseProxyRequest } from './request.ts';

type Told = Exclude<Beginning, { kind: 'more' }>;

/**
 * Opens a tunnel, and lets through what it is for: TLS for that very name, or one request of plain HTTP for it.
 * Anything else ends it before a byte has gone out.
 */
export async function tunnel(passage: Passage, target: Target, upstream: Socket): Promise<void> {
  const { client, limits, records } = passage;
  const meters = createMeters(passage, target);
  const signal = AbortSignal.any([passage.signal, meters.idle]);
  try {
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    const begun = await inTime(signal, limits.headMs, (abort) => begin(passage, abort));
    // Closed unused, which is no offence.
    if (begun === null) return;
    if (begun.kind === 'plain') return await inside(passage, target, upstream, signal);
    const why = begun.kind === 'tls' ? wrongName(begun.name, target) : begun.reason;
    if (why !== null) return await records.refused(target, why);
    await Promise.all([
      pipeline(client, meters.meter('sent'), upstream, { signal }),
      pipeline(upstream, meters.meter('received'), client, { signal }),
    ]);
  } finally {
    meters.stop();
  }
}

/** How it begins; what was read is put back. Null: it ended before. */
async function begin({ client }: Passage, signal: AbortSignal): Promise<Told | null> {
  const told: Told[] = [];
  const enough = (bytes: Buffer) => {
    const beginning = readBeginning(bytes);
    if (beginning.kind === 'more') return null;
    told.push(beginning);
    return 0;
  };
  try {
    await readUntil(client, maxHelloBytes, enough, signal);
  } catch (thrown) {
    if (thrown instanceof RangeError) return { kind: 'bad', reason: 'the TLS client hello is too large' };
    throw thrown;
  }
  return told[0] ?? null;
}

function wrongName(name: string | null, { host }: Target): string | null {
  // A rule may name an IPv4 address, for which clients name nothing.
  if (name === host || (name === null && isIPv4(host))) return null;
  // As a client writes what it shows, cut: it may be anything.
  return name === null
    ? 'the TLS client hello names no host'
    : `the TLS client hello names ${JSON.stringify(name.slice(0, 100))}`;
}

async function inside(
  passage: Passage,
  target: Target,
  upstream: Socket,
  signal: AbortSignal,
): Promise<void> {
  const { client, limits, records } = passage;
  const head = await inTime(signal, limits.headMs, (abort) =>
    readUntil(client, maxHeadBytes, endOfHead, abort),
  ).catch((thrown: unknown) => {
    if (thrown instanceof RangeError) return Buffer.alloc(0);
    throw thrown;
  });
  if (head === null) return;
  const request = parseProxyRequest(head, target);
  if ('refused' in request) {
    await records.refused(target, request.refused);
    return answer(client, request.status, request.refused);
  }
  // The grammar has no CONNECT here.
  if (request.kind === 'forward') await forward(passage, request, upstream);
}
