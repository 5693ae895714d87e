import { join } from 'node:path';
import { type SandboxConfig, sandboxConfigSchema } from '../../src/config/sandbox-config.ts';
import type { Failure } from '../../src/domain/failure.ts';
import { createPreparedLayers, type PreparedLayers } from '../../src/sandbox/bases/prepared-layers.ts';
import { createSandboxKinds } from '../../src/sandbox/bases/sandbox-kinds.ts';
import { createSnapshots } from '../../src/sandbox/bases/snapshots.ts';
import type { Sandboxes, SandboxKinds, Snapshots } from '../../src/sandbox/port.ts';
import type { SetupFailures } from '../../src/store/port/failed-setups.ts';

/** Failures of setups that are kept as long as the process, as the table keeps them for minutes. */
export function createFailuresInMemory(): SetupFailures & { readonly put: SetupFailures['put'] } {
  const kept = new Map<string, Failure>();
  return {
    fresh: async (key) => kept.get(key) ?? null,
    put: async (key, _repository, failure) => void kept.set(key, failure),
  };
}

/** Snapshots, prepared layers and what decides on them, below one directory, as the composition puts them together. */
export function kindsBelow(
  dir: string,
  sandboxes: Pick<Sandboxes, 'acquire' | 'imageId'>,
  given: {
    readonly config?: Partial<SandboxConfig>;
    readonly failures?: SetupFailures;
    /** A setup has ended well. */
    readonly onSetup?: () => void;
  } = {},
): { readonly snapshots: Snapshots; readonly prepared: PreparedLayers; readonly kinds: SandboxKinds } {
  const config = sandboxConfigSchema.parse({ ...given.config });
  const snapshots = createSnapshots({ dir: join(dir, 'snapshots') });
  const prepared = createPreparedLayers({
    dir: join(dir, 'prepared'),
    ...{ config, snapshots, failures: given.failures ?? createFailuresInMemory() },
    sandboxes: {
      async acquire(request, signal) {
        const sandbox = await sandboxes.acquire(request, signal);
        const keep = async (...args: Parameters<typeof sandbox.keep>) => {
          await sandbox.keep(...args);
          given.onSetup?.();
        };
        return { ...sandbox, keep };
      },
    },
  });
  return { snapshots, prepared, kinds: createSandboxKinds({ config, sandboxes, snapshots, prepared }) };
}
