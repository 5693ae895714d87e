import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { engineStatus } from './docker-host.ts';

/** Waits between tries, ms. */
const waits = [50, 200, 500, 1000, 2000, 4000];

/**
 * Kills and removes a container with its anonymous volumes; resolves once the engine does not know it any more.
 * True if this call removed it, false if it was gone. Rejects with the engine's last error when it never goes.
 */
export async function removeContainer(docker: Docker, idOrName: string): Promise<boolean> {
  const container = docker.getContainer(idOrName);
  for (let attempt = 0; ; attempt += 1) {
    try {
      await container.remove({ force: true, v: true });
      return true;
    } catch (thrown) {
      if (engineStatus(thrown) === 404) return false;
      // 409: somebody else is removing it; look again until it is gone.
      const wait = waits[attempt];
      if (wait === undefined) throw thrown;
      await delay(wait);
    }
  }
}
