import type Docker from 'dockerode';
import { unreclaimable } from '../../../sandbox/cgroup-memory.ts';

/** What a container uses, as the engine says: nothing that runs inside is asked. Each look takes up to a second. */

/** CPU time so far, ms. Null: the engine does not say (some count nothing: they say 0). Never rejects. */
export async function cpuTime(container: Docker.Container): Promise<number | null> {
  const nanoseconds = (await statsOf(container))?.cpu_stats?.cpu_usage?.total_usage ?? 0;
  return nanoseconds > 0 ? nanoseconds / 1e6 : null;
}

/**
 * Memory that it has in use now and cannot give back, bytes; see `usedBytes` of cgroup-memory.ts. Null: the engine does
 * not say. Never rejects.
 */
export async function usedMemory(container: Docker.Container): Promise<number | null> {
  const memory = (await statsOf(container))?.memory_stats;
  if (!memory?.usage) return null;
  const detail = memory.stats as Readonly<Record<string, number | undefined>> | undefined;
  return unreclaimable(memory.usage, (name) => detail?.[name] ?? null);
}

/** Null: it cannot be had. */
async function statsOf(container: Docker.Container): Promise<Docker.ContainerStats | null> {
  return await container.stats({ stream: false, 'one-shot': true }).catch(() => null);
}
