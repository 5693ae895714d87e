import { randomBytes, randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sandboxConfigSchema } from '../../src/config/sandbox-config.ts';
import { createSandboxes } from '../../src/sandbox/docker-sandboxes.ts';
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

/** How long a sandbox may live at most, ms. */
const sandboxMs = 300_000;
/** How long the neighbour may take to answer, ms: a machine under attack is slow, but not dead. */
const neighbourMs = 30_000;

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
  /** What host, neighbour and canaries suffered so far; null: nothing. */
  damage(): Promise<string | null>;
  /** Whether the neighbour answers, right now, with what it has. Null: it does. */
  askNeighbour(): Promise<string | null>;
  end(): Promise<void>;
}

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const setting = await createPatchSetting();
  const secret = randomBytes(16).toString('hex');
  const guarded = join(setting.home, 'guarded');
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
  const { image = process.env['PATCHFLEET_TEST_IMAGE'] } = options;
  const sandboxes = createSandboxes({
    dockerHost: options.dockerHost ?? process.env['DOCKER_HOST'],
    config: sandboxConfigSchema.parse({
      ...limits,
      runtime: options.runtime ?? null,
      ...(image === undefined ? {} : { image }),
      pool: { max: 0 },
    }),
    instance: `attacks-${randomBytes(6).toString('hex')}`,
    worker: 'attacked',
    workspacesDir: join(setting.home, 'workspaces'),
  });

  const opened: Sandbox[] = [];
  const fresh = async (wallMs = sandboxMs) => {
    const request = { taskId: 'task', attemptId: randomUUID(), snapshot, wallMs };
    const sandbox = await sandboxes.acquire(request, never);
    opened.push(sandbox);
    return sandbox;
  };
  const closeAll = async () => {
    await Promise.all(opened.map((sandbox) => sandbox.close()));
    await sandboxes.close();
    delete process.env['PATCHFLEET_ATTACK_CANARY'];
    await setting.end();
  };

  try {
    const neighbour = await fresh(sandboxMs * 4);
    await neighbour.write('private.txt', `neighbour ${secret}`, { signal: never });
    const before = { guarded: fingerprint(guarded), snapshot: fingerprint(snapshot) };
    let attacker: Sandbox | null = null;

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
      wallMs: 10_000,
    });
    return exitCode === 0;
  } catch {
    return false;
  }
}
