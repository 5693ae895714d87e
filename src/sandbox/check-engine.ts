import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import type { SandboxConfig } from '../config/sandbox-config.ts';
import { toFailure } from '../domain/failure.ts';
import { engineProblem, engineStatus } from './docker-host.ts';
import type { Sandboxes } from './port.ts';
import { removeTree } from './remove-tree.ts';
import { findRuntimeProblem } from './runtime.ts';

/** Milliseconds the trial sandbox may take, start to end. */
const trialMs = 60_000;

/** Problems of engine and image, each with its remedy; the first that makes the next ones pointless is the last told. */
export async function checkEngine(
  docker: Docker,
  config: SandboxConfig,
  sandboxes: Sandboxes,
): Promise<string[]> {
  try {
    await docker.ping();
  } catch (thrown) {
    return [
      `The Docker engine cannot be reached (${engineProblem(thrown)}). Start it, set DOCKER_HOST to where it listens, and let this user use its socket.`,
    ];
  }
  try {
    await docker.getImage(config.image).inspect();
  } catch (thrown) {
    if (engineStatus(thrown) === 404) {
      return [
        `The sandbox image ${config.image} is not on the engine. Build it with \`npm run sandbox:image\`, pull it, or name another one in \`sandbox.image\` of patchfleet.yml.`,
      ];
    }
    return [
      `The sandbox image ${config.image} cannot be looked at: ${engineProblem(thrown)}. See the log of the engine.`,
    ];
  }
  const runtime = await findRuntimeProblem(docker, config);
  if (runtime !== null) return [runtime];
  // A worker beside us may take the first one for an orphan: no attempt of that id is alive.
  const first = await trial(config, sandboxes);
  return first.length === 0 ? [] : await trial(config, sandboxes);
}

async function trial(config: SandboxConfig, sandboxes: Sandboxes): Promise<string[]> {
  const snapshot = await mkdtemp(join(tmpdir(), 'patchfleet-check-'));
  const signal = AbortSignal.timeout(trialMs);
  try {
    // An attempt id like any other, for a reaper may ask for it.
    const request = { taskId: randomUUID(), attemptId: randomUUID(), snapshot, wallMs: trialMs };
    const sandbox = await sandboxes.acquire(request, signal);
    try {
      const { exitCode, spawnError } = await sandbox.run(['git', '--version'], { signal, wallMs: 10_000 });
      await sandbox.search('x', { signal });
      if (exitCode === 0) return [];
      return [
        `git does not run in ${config.image} (${spawnError ?? `exit code ${exitCode}`}). Build the image anew with \`npm run sandbox:image\`.`,
      ];
    } finally {
      await sandbox.close();
    }
  } catch (thrown) {
    return [
      `A trial sandbox of ${config.image} does not work: ${toFailure(thrown).detail} Build the image anew with \`npm run sandbox:image\`; if that does not help, see the log of the engine.`,
    ];
  } finally {
    await removeTree(snapshot);
  }
}
