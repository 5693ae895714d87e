import { createServer, type Server } from 'node:http';
import type { EgressRecord } from '../../../../src/sandbox/egress/egress.ts';
import type { Stage } from '../../stage.ts';

/** Services of the host: one that a rule names, and one that must never be reached. */
export interface World {
  readonly port: number;
  readonly inner: number;
  readonly innerHits: () => number;
  /** What the registry was asked: its `Host` and path. */
  readonly asked: string[];
  readonly records: EgressRecord[];
  readonly resolved: string[];
  end(): void;
}

const worlds = new WeakMap<Stage, Promise<World>>();

async function openWorld(): Promise<World> {
  const asked: string[] = [];
  let hits = 0;
  const inner = createServer((_, response) => {
    hits += 1;
    response.end('INNER SECRET');
  });
  await listen(inner);
  const innerPort = portOf(inner);
  const registry = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    if (request.url?.startsWith('/redirect') === true) {
      response.writeHead(302, { location: `http://127.0.0.1:${innerPort}/` }).end();
    } else response.end('reached the registry');
  });
  await listen(registry);
  return {
    port: portOf(registry),
    inner: innerPort,
    innerHits: () => hits,
    asked,
    records: [],
    resolved: [],
    end() {
      inner.closeAllConnections();
      registry.closeAllConnections();
      inner.close();
      registry.close();
    },
  };
}

export function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
}

export function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Names of the world, as the resolver of the worker tells them. */
function resolver(world: World) {
  return async (host: string): Promise<readonly string[]> => {
    world.resolved.push(host);
    const before = world.resolved.filter((one) => one === host).length;
    switch (host) {
      case 'registry.test':
        return ['127.0.0.1'];
      case 'rebind.test':
        // First where it may go, then where the attacker wants it.
        return before % 2 === 1 ? ['127.0.0.1'] : ['169.254.169.254'];
      case 'inward.test':
        return ['127.0.0.1'];
      case 'both.test':
        return ['203.0.114.1', '10.0.0.1'];
      case 'metadata.test':
        return ['169.254.169.254'];
      case 'mapped.test':
        return ['::ffff:127.0.0.1'];
      default:
        // Whoever attacks has names, too, and lets them lead where he likes.
        return ['127.0.0.1'];
    }
  };
}

/** The world of a stage, and a sandbox in it that may reach the registry. */
export async function enter(stage: Stage) {
  const known = worlds.get(stage);
  const world = await (known ?? openWorld());
  if (known === undefined) {
    worlds.set(stage, Promise.resolve(world));
    stage.onEnd(world.end);
  }
  const names = ['rebind.test', 'inward.test', 'both.test', 'metadata.test', 'mapped.test'];
  const privately = new Set(['metadata.test', 'rebind.test']);
  const rules = [
    { host: 'registry.test', port: world.port, private: true },
    ...names.map((host) => ({ host, port: world.port, private: privately.has(host) })),
  ];
  const audit = async (record: EgressRecord) => {
    world.records.push(record);
  };
  return { world, sandbox: await stage.withNetwork(rules, { audit, resolve: resolver(world) }) };
}
