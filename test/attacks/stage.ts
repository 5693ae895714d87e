import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NetworkRule } from '../../src/config/sandbox-config.ts';
import { sandboxConfigSchema } from '../../src/config/sandbox-config.ts';
import { createSandboxes } from '../../src/sandbox/docker-sandboxes.ts';
import type { EgressOptions } from '../../src/sandbox/egress/egress.ts';
import type { Sandbox, Sandboxes } from '../../src/sandbox/port.ts';
import { createPatchSetting, never, type PatchSetting } from '../integration/patches/patch-setting.ts';
import { fingerprint, hostProblem } from './host.ts';
import { baseFiles } from './repository.ts';

export interface StageOptions {
  /** As `DOCKER_HOST`; without it the machine's. */
  readonly dockerHost?: string | undefined;
  /** By name; null: the engine's default. */
  readonly runtime?: string | null;
  readonly image?: string | undefined;
}

/** Bounds of every sandbox of a stage: small, so that what grows meets them soon. */
export const limits = {
  memory_mib: 256,
  pids: 64,
  scratch_mib: 32,
  workspace_mib: 96,
  workspace_files: 5000,
  cpus: 1,
} as const;

/** How long a sandbox may live at most, ms: far longer than all attacks of a stage take. */
const sandboxMs = 3_600_000;
/** How long the neighbour may take to answer, ms: a machine under attack is slow, but not dead. */
const neighbourMs = 60_000;

/** Two attempts beside each other on one host: the attacker's, and a neighbour that must not notice. */
export interface Stage {
  readonly runtime: string;
  readonly setting: PatchSetting;
  readonly sandboxes: Sandboxes;
  readonly commit: string;
  readonly snapshot: string;
  readonly neighbour: Sandbox;
  /** What lies on the host and nobody may read (`secret`, in the file `file`) or make (anything in `fired`). */
  readonly canary: { readonly secret: string; readonly file: string; readonly fired: string };
  /** The attacker's sandbox; another one where the last has died. */
  target(): Promise<Sandbox>;
  /** A sandbox for one attack alone. */
  fresh(wallMs?: number): Promise<Sandbox>;
  /** A sandbox that may reach what the rules name, by names and records of the attack's own; one for all of a stage. */
  withNetwork(rules: readonly NetworkRule[], world: World): Promise<Sandbox>;
  /** What tells another process of its engine and image. */
  readonly environment: Readonly<Record<string, string>>;
  /** Removes what another process made in that name, once it has ended. */
  removeAll(instance: string, workspacesDir: string): Promise<void>;
  /** To be called, once, when the stage ends. */
  onEnd(tidy: () => void): void;
  /** What host, neighbour and canaries suffered so far; null: nothing. */
  damage(): Promise<string | null>;
  /** Whether the neighbour answers, right now, with what it has. Null: it does. */
  askNeighbour(): Promise<string | null>;
  end(): Promise<void>;
}

/** Who resolves names, and who keeps the record. */
export type World = Required<Pick<EgressOptions, 'audit' | 'resolve'>>;

const nowhere: World = {
  audit: async () => {},
  resolve: async () => [],
};

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const setting = await createPatchSetting();
  const secret = randomBytes(16).toString('hex');
  const guarded = join(setting.home, 'guarded-canary');
  const file = join(guarded, 'secret');
  const fired = join(setting.home, 'fired');
  mkdirSync(guarded);
  writeFileSync(file, secret, { mode: 0o600 });
  // Whatever runs on the host, as anybody, could leave its mark here.
  chmodSync(setting.home, 0o755);
  mkdirSync(fired);
  chmodSync(fired, 0o777);
  // A worker has secrets in its environment.
  process.env['PATCHFLEET_ATTACK_CANARY'] = secret;

  const [commit = ''] = setting.commits(baseFiles);
  const snapshot = await setting.snapshot(commit);
  const { image = process.env['PATCHFLEET_TEST_IMAGE'], dockerHost = process.env['DOCKER_HOST'] } = options;
  let world = nowhere;
  const common = {
    dockerHost,
    config: sandboxConfigSchema.parse({
      ...limits,
      runtime: options.runtime ?? null,
      ...(image === undefined ? {} : { image }),
      pool: { max: 0 },
    }),
    worker: 'attacked',
  };
  const egress: World = {
    audit: (record) => world.audit(record),
    resolve: (host, signal) => world.resolve(host, signal),
  };
  const sandboxes = createSandboxes({
    ...common,
    instance: `attacks-${randomBytes(6).toString('hex')}`,
    workspacesDir: join(setting.home, 'workspaces'),
    egress,
  });

  const opened: Sandbox[] = [];
  const tidies = new Set<() => void>();
  const open = async (wallMs: number, network: readonly NetworkRule[]) => {
    const request = { taskId: 'task', attemptId: randomUUID(), snapshot, wallMs, network };
    const sandbox = await sandboxes.acquire(request, never);
    opened.push(sandbox);
    return sandbox;
  };
  const fresh = (wallMs = sandboxMs) => open(wallMs, []);
  const closeAll = async () => {
    for (const tidy of tidies) tidy();
    await Promise.all(opened.map((sandbox) => sandbox.close()));
    await sandboxes.close();
    delete process.env['PATCHFLEET_ATTACK_CANARY'];
    await setting.end();
  };

  try {
    const neighbour = await fresh();
    await neighbour.write('private.txt', `neighbour ${secret}`, { signal: never });
    const before = { guarded: fingerprint(guarded), snapshot: fingerprint(snapshot) };
    let attacker: Sandbox | null = null;
    let reaching: Sandbox | null = null;

    const askNeighbour = async () => {
      const signal = AbortSignal.timeout(neighbourMs);
      try {
        const ran = await neighbour.run(['cat', 'private.txt'], { signal, wallMs: neighbourMs });
        if (ran.stdout !== `neighbour ${secret}`) return 'the file of the neighbour was changed';
        const { text } = await neighbour.read('src/a.ts', { signal });
        return text.startsWith('export const a') ? null : 'the workspace of the neighbour was changed';
      } catch (thrown) {
        return `the neighbour does not answer: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
      }
    };
    return {
      runtime: options.runtime ?? 'runc',
      setting,
      sandboxes,
      commit,
      snapshot,
      neighbour,
      canary: { secret, file, fired },
      async target() {
        if (attacker !== null && (await isAlive(attacker))) return attacker;
        await attacker?.close();
        attacker = await fresh();
        return attacker;
      },
      fresh,
      environment: {
        ...(dockerHost === undefined ? {} : { DOCKER_HOST: dockerHost }),
        ...(image === undefined ? {} : { PATCHFLEET_TEST_IMAGE: image }),
      },
      async removeAll(other, workspacesDir) {
        const reaper = createSandboxes({ ...common, instance: other, workspacesDir });
        await reaper.reap(async () => false);
        await reaper.close();
      },
      async withNetwork(rules, given) {
        world = given;
        if (reaching !== null && (await isAlive(reaching))) return reaching;
        await reaching?.close();
        reaching = await open(sandboxMs, rules);
        return reaching;
      },
      onEnd: (tidy) => void tidies.add(tidy),
      askNeighbour,
      async damage() {
        const marks = readdirSync(fired);
        if (marks.length > 0) return `something ran on the host: it left ${marks.join(', ')}`;
        if (fingerprint(guarded) !== before.guarded) return 'a file of the host was changed';
        if (fingerprint(snapshot) !== before.snapshot) return 'the snapshot was changed';
        return (await askNeighbour()) ?? (await hostProblem(setting.home));
      },
      end: closeAll,
    };
  } catch (thrown) {
    await closeAll();
    throw thrown;
  }
}

async function isAlive(sandbox: Sandbox): Promise<boolean> {
  try {
    const { exitCode } = await sandbox.run(['true'], {
      signal: AbortSignal.timeout(neighbourMs),
      wallMs: neighbourMs,
    });
    return exitCode === 0;
  } catch {
    return false;
  }
}
