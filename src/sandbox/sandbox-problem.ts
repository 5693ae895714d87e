import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { engineProblem } from './container/docker-host.ts';
import type { StartedContainer } from './container/start-container.ts';

/** Far more than a healthy one takes under load, ms: taking it for dead costs a start. */
const limitMs = 5000;

/**
 * Looks at a sandbox that nobody used yet: the tool server lists the workspace, the engine says that the container
 * runs, and of which image. A text says what is wrong. Never rejects.
 */
export async function sandboxProblem(
  docker: Docker,
  { id, client }: Pick<StartedContainer, 'id' | 'client'>,
  image: string,
): Promise<string | null> {
  const done = new AbortController();
  const late = delay(limitMs, 'it gave no answer in time', { signal: done.signal });
  late.catch(() => {});
  const asEngineSays = async () => {
    const [{ State: state, Image: made }, { Id: now }] = await Promise.all([
      docker.getContainer(id).inspect(),
      docker.getImage(image).inspect(),
    ]);
    if (!state.Running || state.Paused) throw new Error('its container does not run');
    if (made !== now) throw new Error('its image was built anew');
  };
  const asItSays = client.call({ op: 'list', path: '', limit: 1 }, done.signal, limitMs);
  try {
    const look = Promise.all([asEngineSays(), asItSays]).then(() => null, engineProblem);
    return await Promise.race([look, late]);
  } finally {
    done.abort();
  }
}
