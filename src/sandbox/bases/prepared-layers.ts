import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { SandboxConfig } from '../../config/sandbox-config.ts';
import { PatchfleetError, toFailure } from '../../domain/failure.ts';
import type { SetupFailures } from '../../store/port/failed-setups.ts';
import type { SandboxUser } from '../container/container-spec.ts';
import type { KindRequest, Sandboxes, SandboxKind, Snapshots } from '../port.ts';
import { removeTree } from '../remove-tree.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { sandboxUser } from '../sandbox-user.ts';
import { withHeldLock } from './held-lock.ts';
import { createKeeper, isAsMade, standsAsMade, treeOf } from './kept-directory.ts';
import { type MakeRoom, makeKept, prepareHome } from './make-kept.ts';
import { lastingCodes, runSetup } from './run-setup.ts';
import { hidesFiles, separateLayer } from './separate-layer.ts';
import { createSetupPlanner, type SetupPlan } from './setup-plan.ts';

/** What the sandbox of a setup may live longer than its commands, ms. */
const slackMs = 60_000;

export interface PreparedLayersOptions {
  readonly dir: string;
  readonly config: Pick<SandboxConfig, 'network'>;
  readonly sandboxes: Pick<Sandboxes, 'acquire'>;
  readonly snapshots: Snapshots;
  readonly failures: SetupFailures;
  readonly log?: SandboxLog;
  readonly user?: SandboxUser;
  /** Called before one is made where the disk is full, and after each. */
  readonly makeRoom?: MakeRoom;
}

/** What a setup runs in, and what for. */
export interface SetupRequest extends KindRequest {
  /** Id of the image on the engine. */
  readonly imageId: string;
  /** Its name, where it is not the operator's own. */
  readonly image: string | undefined;
}

export interface PreparedLayers {
  /** The key of what that commit wants; null: nothing. Nothing is made. */
  keyOf(request: SetupRequest, signal: AbortSignal): Promise<string | null>;
  /**
   * A layer that fits over `snapshot`, made where it is not there; null: the repository wants none. Fails with
   * `setup_failed`, at once where the same failed a short time ago, `config_invalid`, or as its own sandbox does.
   */
  ensure(request: SetupRequest, snapshot: string, signal: AbortSignal): Promise<string | null>;
}

/**
 * Layers of dependencies under `dir` (made if missing), as `<repository id>/<key>/tree` and what kept-directory.ts says:
 * what the commands of `setup` add to a snapshot, made once on this data directory however many ask, in whatever process.
 */
export function createPreparedLayers(options: PreparedLayersOptions): PreparedLayers {
  const root = resolve(options.dir);
  const plan = createSetupPlanner(options.config);
  const keeper = createKeeper();

  async function layerOf(request: SetupRequest, wanted: SetupPlan, signal: AbortSignal): Promise<string> {
    const home = join(root, String(request.repository.id));
    const place = join(home, wanted.key);
    const make = (shared: AbortSignal) => settle(options, home, place, request, wanted, shared);
    // Who has more memory does not fail with who has less: the lock lets one in after the other.
    return await keeper(place, signal, make, String(request.memoryMib ?? ''));
  }

  return {
    keyOf: async (request, signal) => (await plan(request, request.imageId, false, signal))?.key ?? null,
    async ensure(request, snapshot, signal) {
      const wanted = await plan(request, request.imageId, false, signal);
      if (wanted === null) return null;
      const layer = await layerOf(request, wanted, signal);
      if (!(await hidesFiles(layer, snapshot))) return layer;
      // A setup wrote what is a file of the repository in this commit: here it is the commit's.
      const own = await plan(request, request.imageId, true, signal);
      return own === null ? null : await layerOf(request, own, signal);
    },
  };
}

async function settle(
  options: PreparedLayersOptions,
  home: string,
  place: string,
  request: SetupRequest,
  plan: SetupPlan,
  signal: AbortSignal,
): Promise<void> {
  if (await isAsMade(place, signal)) return;
  const failIfKnown = async () => {
    const known = await options.failures.fresh(plan.key);
    if (known !== null) throw new PatchfleetError(known.code, known.detail);
  };
  await failIfKnown();
  await prepareHome(home, options.makeRoom);
  const warn = () =>
    options.log?.warn(
      { layer: place },
      'prepared dependencies are not as they were made: they are made anew',
    );
  // One file for some of the keys: such files stay for ever.
  await withHeldLock(join(home, `.lock-${plan.key.slice(0, 2)}`), signal, async () => {
    if (await standsAsMade(place, signal, warn)) return;
    await failIfKnown();
    try {
      const prepare = (temporary: string) => make(options, temporary, request, plan, signal);
      await makeKept(place, signal, prepare, options.makeRoom);
    } catch (thrown) {
      if (!signal.aborted && thrown instanceof PatchfleetError && lastingCodes.has(thrown.code))
        await options.failures.put(plan.key, request.repository.id, toFailure(thrown));
      throw thrown;
    }
  });
}

function whyNoNetwork({ network }: KindRequest['config']['setup'], rules: readonly unknown[]): string {
  if (rules.length > 0) return '';
  return network.allow.length === 0
    ? 'It had no network: `setup.network.allow` names nothing it may reach.'
    : 'It had no network, since an agent changed what it goes by; the operator may allow it with `sandbox.network.agents`.';
}

/** Runs the setup in a sandbox of its own, over the snapshot of the plan's commit. */
async function make(
  options: PreparedLayersOptions,
  temporary: string,
  request: SetupRequest,
  { commit, network }: SetupPlan,
  signal: AbortSignal,
): Promise<void> {
  const { setup } = request.config;
  const snapshot = await options.snapshots.ensure(request.repository, commit, signal);
  const kind: SandboxKind = {
    snapshot,
    ...(request.image === undefined ? {} : { image: request.image }),
    ...(request.memoryMib === undefined ? {} : { memoryMib: request.memoryMib }),
    ...(network.length === 0 ? {} : { network }),
  };
  const wallMs = setup.commands.length * setup.seconds * 1000 + slackMs;
  const written = join(temporary, 'written');
  const layer = treeOf(temporary);
  await mkdir(temporary, { mode: 0o700 });
  const sandbox = await options.sandboxes.acquire(
    { ...kind, taskId: request.taskId, attemptId: 'setup', wallMs },
    signal,
  );
  try {
    await runSetup(sandbox, setup, whyNoNetwork(setup, network), signal);
    await sandbox.keep(written, signal);
  } finally {
    await sandbox.close();
  }
  await mkdir(layer, { mode: 0o755 });
  await separateLayer({ written, snapshot, layer }, options.user ?? sandboxUser());
  await removeTree(written);
}
