import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { maxEgressConnections } from '../../../sandbox/egress-place.ts';
import type { NetworkRule } from '../../config/sandbox-config.ts';
import { judgeAddresses } from './address.ts';
import { answer, linger } from './answer.ts';
import { type EgressLimits, type EgressOptions, egressLimits, type Target } from './egress.ts';
import { forward } from './forward.ts';
import { inTime } from './in-time.ts';
import { connectTo, resolveByMachine } from './reach.ts';
import { endOfHead, readUntil } from './read.ts';
import { createEgressRecords, type EgressRecords } from './records.ts';
import { maxHeadBytes, type ProxyRequest, parseProxyRequest } from './request.ts';
import { judgeTarget } from './target.ts';
import { tunnel } from './tunnel.ts';

/** The proxy of one sandbox. */
export interface EgressProxy {
  /** Serves one connection from the sandbox, whatever carries it: one request. Never throws. */
  accept(client: Duplex): void;
  handOver: EgressRecords['handOver'];
  /** Ends every connection; after it, each new one is closed at once. Never rejects; safe to call twice. */
  close(): Promise<void>;
}

/** What serving one connection needs. */
export interface Passage {
  readonly client: Duplex;
  readonly limits: EgressLimits;
  readonly records: EgressRecords;
  /** Aborted when the connection, or the proxy, is over. */
  readonly signal: AbortSignal;
}

/** A proxy for the sandbox of that name (its container's), which lets it reach what the rules name. */
export function createEgressProxy(
  sandbox: string,
  rules: readonly NetworkRule[],
  options: EgressOptions,
): EgressProxy {
  const limits = { ...egressLimits, ...options.limits };
  const records = createEgressRecords(sandbox, options.audit, limits.recordMs);
  const resolve = options.resolve ?? resolveByMachine;
  const open = new Set<Duplex>();
  let over = false;
  let closing: Promise<void> | null = null;

  async function serve(passage: Passage): Promise<void> {
    const { client, signal } = passage;
    const head = await inTime(signal, limits.headMs, (abort) =>
      readUntil(client, maxHeadBytes, endOfHead, abort),
    ).catch((thrown: unknown) => {
      if (thrown instanceof RangeError) return 'too large' as const;
      throw thrown;
    });
    // Nothing at all: the tool server looking whether there is a proxy.
    if (head === null) return;
    if (head === 'too large') return await refuse(null, 'the head of the request is too large', 431);
    const request = parseProxyRequest(head);
    if ('refused' in request) return await refuse(null, request.refused, request.status);
    const reached = await reach(request);
    if (reached === null) return;
    try {
      if (request.kind === 'tunnel') await tunnel(passage, request.target, reached);
      else await forward(passage, request, reached);
    } finally {
      reached.destroy();
    }

    async function refuse(asked: Target | null, reason: string, status: number): Promise<void> {
      await records.refused(asked, reason);
      answer(client, status, reason);
    }

    /** A connection to where the request may go; null once it was refused. */
    async function reach({ target, ...rest }: ProxyRequest): Promise<Socket | null> {
      const no = async (reason: string, status: number) => {
        await refuse(target, reason, status);
        return null;
      };
      const judged = judgeTarget(rules, target);
      if ('refused' in judged) return await no(judged.refused, 403);
      let addresses: readonly string[];
      try {
        // Once: the connection is made to what was judged, so that a name cannot change its mind between.
        addresses = await inTime(signal, limits.reachMs, (abort) => resolve(target.host, abort));
      } catch {
        signal.throwIfAborted();
        return await no(`${target.host} cannot be resolved`, 502);
      }
      const why = judgeAddresses(addresses, judged.rule);
      if (why !== null) return await no(why, 403);
      const method = rest.kind === 'tunnel' ? 'CONNECT' : rest.method;
      try {
        await records.allowed(target, { method, address: addresses.join(' ').slice(0, 200) });
      } catch {
        return await no('the request cannot be recorded, so it is not let through', 503);
      }
      const socket = await inTime(signal, limits.reachMs, (abort) =>
        connectTo(addresses, target.port, abort),
      ).catch(() => null);
      if (signal.aborted) socket?.destroy();
      signal.throwIfAborted();
      if (socket === null) answer(client, 502, `no connection to ${target.host}:${target.port}`);
      return socket;
    }
  }

  async function pass(client: Duplex): Promise<void> {
    const abort = new AbortController();
    const { signal } = abort;
    const wall = setTimeout(() => client.destroy(), limits.wallMs);
    client.on('error', () => {});
    client.once('close', () => abort.abort(new Error('the connection is over')));
    try {
      await serve({ client, limits, records, signal });
      await linger(client);
    } catch {
      // Whatever it was: the connection is over, and with it what it was for.
    }
    clearTimeout(wall);
    client.destroy();
    open.delete(client);
  }

  return {
    accept(client) {
      if (over || open.size >= maxEgressConnections) {
        client.on('error', () => {});
        client.destroy();
        return;
      }
      open.add(client);
      void pass(client);
    },
    handOver: records.handOver,
    close() {
      closing ??= (async () => {
        over = true;
        for (const client of open) client.destroy();
        await records.close();
      })();
      return closing;
    },
  };
}
