import { readFile } from 'node:fs/promises';
import type Docker from 'dockerode';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { type HeldMemory, heldFigures, kernelBytes, spread } from './figures.ts';
import type { Stage } from './stage.ts';

const containers = 200;
/** Looked at one by one. */
const sampled = 20;
/** Bytes that a container and what keeps it may take at most, else they are not begun with. */
const mayTake = 80 * 1024 * 1024;

/** Many sandboxes at once, each with its workspace, each shown to answer; and the memory they take. */
export async function measureHeld(stage: Stage) {
  const { snapshot } = await stage.snapshotOf(1000);
  const { signal, say } = stage;
  const availableBefore = await available();
  if (availableBefore < containers * mayTake)
    throw new Error(`${containers} containers want ${(containers * mayTake) / 2 ** 30} GiB of free memory`);
  const sandboxes = stage.sandboxes({ pool: { ...stage.config.pool, max: 0 } });
  const opened: Sandbox[] = [];
  try {
    const begin = performance.now();
    const all = Array.from({ length: containers }, async () => {
      opened.push(await sandboxes.acquire(stage.request(snapshot), signal));
      if (opened.length % 50 === 0) say(`${opened.length} of ${containers} sandboxes are open`);
    });
    // Whatever happens to one, the others are known by then, and closed.
    for (const one of await Promise.allSettled(all)) if (one.status === 'rejected') throw one.reason;
    const startMs = performance.now() - begin;
    for (const sandbox of opened) {
      const { exitCode } = await sandbox.run(['true'], { signal, wallMs: 30_000 });
      if (exitCode !== 0) throw new Error('one of many sandboxes does not work');
    }
    const availableWith = await available();
    const samples: HeldMemory['samples'][number][] = [];
    for (const at of spread(opened.length, sampled)) {
      samples.push(await memoryOf(stage.engine.requests.getContainer(opened[at]?.containerId ?? '')));
    }
    return {
      held: heldFigures({ containers: opened.length, availableBefore, availableWith, samples, startMs }),
    };
  } finally {
    say('the sandboxes are closed');
    await Promise.all(opened.map((sandbox) => sandbox.close()));
  }
}

async function available(): Promise<number> {
  return kernelBytes(await readFile('/proc/meminfo', 'utf8'), 'MemAvailable');
}

async function memoryOf(container: Docker.Container): Promise<HeldMemory['samples'][number]> {
  const { memory_stats: memory } = await container.stats({ stream: false, 'one-shot': true });
  const { State: state } = await container.inspect();
  const { Processes: processes } = (await container.top({ ps_args: '-eo pid' })) as { Processes: string[][] };
  const own = await Promise.all(processes.map(([pid]) => proportional(Number(pid))));
  const stat = await readFile(`/proc/${state.Pid}/stat`, 'utf8');
  const shim = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  const stats = memory.stats as { total_inactive_file?: number; inactive_file?: number };
  // Files that can be given up at any time are no cost.
  const file = stats.total_inactive_file ?? stats.inactive_file ?? 0;
  return {
    charged: memory.usage - file,
    own: own.reduce((sum, bytes) => sum + bytes, 0),
    shim: await proportional(shim),
  };
}

/** Memory of a process, what it shares counted in part. */
async function proportional(pid: number): Promise<number> {
  return kernelBytes(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss');
}
