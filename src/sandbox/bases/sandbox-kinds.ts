import { allowedNetwork } from '../../config/allowed-network.ts';
import type { SandboxConfig } from '../../config/sandbox-config.ts';
import { imageFor } from '../../config/select-image.ts';
import type { KindRequest, Sandboxes, SandboxKinds, Snapshots } from '../port.ts';
import type { PreparedLayers, SetupRequest } from './prepared-layers.ts';

export interface SandboxKindsDependencies {
  readonly config: Pick<SandboxConfig, 'image' | 'images' | 'network'>;
  readonly sandboxes: Pick<Sandboxes, 'imageId'>;
  readonly snapshots: Snapshots;
  readonly prepared: PreparedLayers;
}

/** The one place that decides what a sandbox is made of. */
export function createSandboxKinds(deps: SandboxKindsDependencies): SandboxKinds {
  const { config, sandboxes, snapshots, prepared } = deps;

  async function withImage(request: KindRequest, signal: AbortSignal): Promise<SetupRequest> {
    const image = imageFor(config, request.config);
    return { ...request, image, imageId: await sandboxes.imageId(signal, image) };
  }

  return {
    async of(request, signal) {
      const { repository, commit, memoryMib } = request;
      const image = imageFor(config, request.config);
      const network =
        request.use === 'agent' && config.network.agents ? allowedNetwork(config, request.config) : [];
      const snapshot = await snapshots.ensure(repository, commit, signal);
      const layer =
        request.config.setup.commands.length === 0
          ? null
          : await prepared.ensure(await withImage(request, signal), snapshot, signal);
      return {
        snapshot,
        ...(layer === null ? {} : { prepared: layer }),
        ...(image === undefined ? {} : { image }),
        ...(memoryMib === undefined ? {} : { memoryMib }),
        ...(network.length === 0 ? {} : { network }),
      };
    },
    async environmentOf(request, signal) {
      const wanted = await withImage(request, signal);
      const key = await prepared.keyOf(wanted, signal);
      return key === null ? wanted.imageId : `${wanted.imageId} ${key}`;
    },
  };
}
