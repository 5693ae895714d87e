import type Docker from 'dockerode';
import { expect, it } from 'vitest';
import { operatorConfigSchema } from '../../../src/config/operator-config.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { checkEngine } from '../../../src/sandbox/check-engine.ts';
import type { RunResult, Sandbox, Sandboxes } from '../../../src/sandbox/port.ts';

const docker = {
  ping: async () => 'OK',
  getImage: () => ({ inspect: async () => ({}) }),
} as unknown as Docker;
const { sandbox: config } = operatorConfigSchema.parse({});

/** Sandboxes of which the first ones die under what runs in them. */
function sandboxes(dying: number): { ports: Sandboxes; closed: () => number } {
  let made = 0;
  let closed = 0;
  const acquire = async () => {
    made += 1;
    const dies = made <= dying;
    return {
      run: async () => {
        if (dies) throw new PatchfleetError('sandbox_died', 'the container was removed');
        return { exitCode: 0, spawnError: null } as RunResult;
      },
      search: async () => ({ matches: [], truncated: false }),
      close: async () => {
        closed += 1;
      },
    } as unknown as Sandbox;
  };
  return { ports: { acquire } as unknown as Sandboxes, closed: () => closed };
}

it('does not blame the image for one trial that a worker took for an orphan', async () => {
  const { ports, closed } = sandboxes(1);
  expect(await checkEngine(docker, config, [config.image], ports)).toMatchObject({ problems: [] });
  expect(closed()).toBe(2);
});

it('names what is wrong when the second trial fails as well', async () => {
  const { ports, closed } = sandboxes(2);
  expect(await checkEngine(docker, config, [config.image], ports)).toMatchObject({
    problems: [expect.stringMatching(/^A trial sandbox of .* does not work: the container was removed/)],
  });
  expect(closed()).toBe(2);
});
