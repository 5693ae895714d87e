import { createHash } from 'node:crypto';
import { allowedNetwork } from '../../config/allowed-network.ts';
import type { NetworkRule, SandboxConfig } from '../../config/sandbox-config.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import type { KindRequest } from '../port.ts';
import { isMadeHere, listTree } from './mirror-reader.ts';
import { setupInputs } from './setup-inputs.ts';

/** What is to be prepared, and of which commit. */
export interface SetupPlan {
  /** SHA-256 of all that decides what comes of it, and of who may share it. */
  readonly key: string;
  readonly commit: string;
  readonly network: readonly NetworkRule[];
}

/** Trees looked at whose answers are remembered. */
const remembered = 2000;

/**
 * Plans the setup that a commit wants; null: none. The key has the commands and their limit, the image, the places that
 * may be reached, and the content of the files that decide (setup-inputs.ts). Where those are the same in the trusted
 * commit it is made of that one, and the whole repository shares it: what a pull request brings beside its lockfiles, a
 * script that runs at install, say, never gets into the dependencies of others. Else it is made of the commit itself,
 * and the task alone has it; of a commit that agents made without network, unless the operator allows them one. `alone`:
 * whatever decides, it is made of that commit's whole tree, for the task alone.
 */
export function createSetupPlanner(
  config: Pick<SandboxConfig, 'network'>,
): (request: KindRequest, image: string, alone: boolean, signal: AbortSignal) => Promise<SetupPlan | null> {
  const digests = new Map<string, string>();

  async function inputsOf(
    request: KindRequest,
    commit: string,
    globs: readonly string[] | null,
    signal: AbortSignal,
  ): Promise<string> {
    const { mirrorDir } = request.repository;
    const asked = JSON.stringify([mirrorDir, commit, globs]);
    const known = digests.get(asked);
    if (known !== undefined) return known;
    const digest = setupInputs(await listTree(mirrorDir, commit, signal), globs);
    if (digests.size >= remembered) digests.clear();
    digests.set(asked, digest);
    return digest;
  }

  return async (request, image, alone, signal) => {
    const { commands, lockfiles, seconds } = request.config.setup;
    if (commands.length === 0) return null;
    const inputs = await inputsOf(request, request.commit, alone ? ['**'] : lockfiles, signal);
    const trusted = await inputsOf(request, request.trusted, lockfiles, signal).catch((thrown: unknown) => {
      if (thrown instanceof PatchfleetError && thrown.code === 'commit_missing') return null;
      throw thrown;
    });
    const shared = !alone && trusted === inputs;
    const commit = shared ? request.trusted : request.commit;
    const allowed = allowedNetwork(config, request.config);
    const network =
      shared || config.network.agents || !(await isMadeHere(request.repository.mirrorDir, commit, signal))
        ? allowed
        : [];
    const whose = shared ? 'repository' : `task ${request.taskId}`;
    const what = { format: 1, commands, seconds, image, network, inputs, whose };
    const key = createHash('sha256').update(JSON.stringify(what)).digest('hex');
    return { key, commit, network };
  };
}
