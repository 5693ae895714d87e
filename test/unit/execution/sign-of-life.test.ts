import { expect, it } from 'vitest';
import type { Composition } from '../../../src/compose.ts';
import { operatorConfigSchema } from '../../../src/config/operator-config.ts';
import { startService } from '../../../src/service.ts';

it('a worker gives its sign of life before anything of it can open a sandbox', async () => {
  const did: string[] = [];
  const note = (what: string) => async () => void did.push(what);
  const parts = {
    queue: { work: async (kind: string) => void did.push(`takes ${kind}`) },
    dispatch: {
      look: async () => {
        // Whatever comes after must wait for it.
        await new Promise(setImmediate);
        did.push('look');
      },
      wake: note('wake'),
      stop: note('stop'),
    },
    reapSandboxes: note('reap'),
    makeRoom: note('room'),
    reconcile: note('reconcile'),
    log: { warn: () => {}, error: () => {} },
    close: note('close'),
  } as unknown as Composition;
  const roles = { serve: false, work: true };
  const config = operatorConfigSchema.parse({});
  const service = await startService(parts, roles, config, { host: '127.0.0.1', port: 0 });
  await service.stop();
  expect(did.slice(0, 3)).toEqual(['look', 'takes plan', 'takes run']);
  expect(did.at(-1)).toBe('close');
});
