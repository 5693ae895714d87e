import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createSlots } from '../../../src/domain/slots.ts';
import type { OpenSandbox } from '../../../src/sandbox/open-sandbox.ts';
import { createPool } from '../../../src/sandbox/pool/pool.ts';
import type { SandboxKind } from '../../../src/sandbox/port.ts';

export const settled = async () => {
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
};

/** A start that was begun, ended by the test. */
export interface Start {
  readonly snapshot: string;
  readonly id: string;
  succeed(): Promise<void>;
  fail(): Promise<void>;
}

/** A pool over starts that the test ends. Sandboxes are named `<snapshot><number>`. */
export function poolSetting(pool: { min?: number; max?: number; idle_seconds?: number }, slots: number) {
  const starting: Start[] = [];
  const opened: string[] = [];
  const discarded: string[] = [];
  const unhealthy = new Set<string>();
  const deaths = new Map<string, (why: Error) => void>();
  const warnings: string[] = [];
  let number = 0;

  function open(kind: SandboxKind, signal: AbortSignal): Promise<OpenSandbox> {
    const { promise, resolve, reject } = Promise.withResolvers<OpenSandbox>();
    number += 1;
    const id = `${kind.snapshot}${number}`;
    const over = Promise.withResolvers<Error>();
    deaths.set(id, over.resolve);
    const end = (how: () => void) => async () => {
      const index = starting.indexOf(start);
      if (index >= 0) starting.splice(index, 1);
      how();
      await settled();
    };
    const start: Start = {
      snapshot: kind.snapshot,
      id,
      succeed: end(() => {
        opened.push(id);
        resolve({
          container: { id } as OpenSandbox['container'],
          over: over.promise,
          problem: async () => (unhealthy.has(id) ? 'ill' : null),
          handOver: () => {
            throw new Error('not asked for');
          },
          discard: async () => void discarded.push(id),
        });
      }),
      fail: end(() => reject(new Error('no engine'))),
    };
    starting.push(start);
    const abort = end(() => reject(signal.reason));
    signal.addEventListener('abort', () => void abort(), { once: true });
    return promise;
  }

  const made = createPool({
    open,
    slots: createSlots(slots),
    config: sandboxConfigSchema.parse({ pool }),
    log: { warn: (fields, message) => void warnings.push(`${message}: ${JSON.stringify(fields)}`) },
  });
  return {
    pool: made,
    starting,
    opened,
    discarded,
    unhealthy,
    warnings,
    /** Its container ends by itself. */
    async die(id: string) {
      deaths.get(id)?.(new Error('killed'));
      await settled();
    },
    names: () => starting.map(({ id }) => id),
    /** Ends every start that was begun, and those that begin then. */
    async succeedAll() {
      for (;;) {
        await settled();
        const [next] = starting;
        if (next === undefined) return;
        await next.succeed();
      }
    },
  };
}
