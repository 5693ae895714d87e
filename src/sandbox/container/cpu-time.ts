import type Docker from 'dockerode';

/** CPU time of a container so far, ms; null where the engine does not say (some count nothing: they say 0). Takes up to a second. */
export async function cpuTime(docker: Docker, containerId: string): Promise<number | null> {
  try {
    const stats = await docker.getContainer(containerId).stats({ stream: false, 'one-shot': true });
    const nanoseconds = stats.cpu_stats?.cpu_usage?.total_usage ?? 0;
    return nanoseconds > 0 ? nanoseconds / 1e6 : null;
  } catch {
    return null;
  }
}
