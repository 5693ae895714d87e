import { expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../../src/config/repository-config.ts';
import { sandboxConfigSchema } from '../../../../src/config/sandbox-config.ts';
import { createSandboxKinds } from '../../../../src/sandbox/bases/sandbox-kinds.ts';
import type { KindRequest } from '../../../../src/sandbox/port.ts';

const commit = 'a'.repeat(40);
const signal = new AbortController().signal;

it('asks for the snapshot again when its dependencies are made: that may take long, and nobody used it meanwhile', async () => {
  const asked: string[] = [];
  const kinds = createSandboxKinds({
    config: sandboxConfigSchema.parse({}),
    sandboxes: { imageId: async () => 'sha256:1' },
    snapshots: {
      ensure: async () => {
        asked.push('snapshot');
        return '/snapshots/1/tree';
      },
    },
    prepared: {
      keyOf: async () => 'key',
      ensure: async () => {
        asked.push('dependencies');
        return '/prepared/1/tree';
      },
    },
  });
  const request: KindRequest = {
    repository: { id: 1, mirrorDir: '/mirrors/1' },
    commit,
    config: repositoryConfigSchema.parse({ setup: { commands: [['npm', 'ci']] } }),
    trusted: commit,
    taskId: 'task',
    use: 'agent',
  };
  expect(await kinds.of(request, signal)).toEqual({
    snapshot: '/snapshots/1/tree',
    prepared: '/prepared/1/tree',
  });
  expect(asked).toEqual(['snapshot', 'dependencies', 'snapshot']);
});
