import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { PatchfleetError } from '../../domain/failure.ts';
import { engineProblem, engineStatus } from './docker-host.ts';

/** Waits between looks, ms: some 20 s in all. */
const waits = [0, 20, 50, 100, 200, 500, 1000, 2000, 4000, 6000, 6000];

/**
 * Kills a container and resolves once the engine says that nothing in it runs any more; one that has ended or is
 * gone is fine. Rejects with `sandbox_died` when that cannot be had: its files may then still change.
 */
export async function stopContainer(docker: Docker, name: string, signal: AbortSignal): Promise<void> {
  const container = docker.getContainer(name);
  let problem = 'it still runs';
  for (const wait of waits) {
    await delay(wait, undefined, { signal }).catch(() => signal.throwIfAborted());
    try {
      const { State: state } = await container.inspect();
      if (!state.Running && !state.Paused && !state.Restarting) return;
      await container.kill();
    } catch (thrown) {
      const status = engineStatus(thrown);
      if (status === 404) return;
      // 409: it ended between the look and the kill; the next look tells.
      if (status !== 409) problem = engineProblem(thrown);
    }
  }
  throw new PatchfleetError('sandbox_died', `the container could not be stopped: ${problem}`);
}
