import type { Sandbox } from '../sandbox/port.ts';

/**
 * CPU time that counts as life: so much a second, and so much in all, ms. A container whose programs all wait uses 0.1 to
 * 0.3 ms a second, most of it for the tool server's looks at their memory; starting one small program takes 1 to 2 ms.
 */
const leastPerSecond = 0.5;
const leastCpuMs = 1;
/** Looks within an idle limit. */
const looks = 4;

/**
 * Waits for a program in the sandbox that may be silent: it is alive as long as its container's CPU time grows. Where
 * the engine does not tell that, it is bounded by its wall limit alone.
 */
export async function aliveByCpu<T>(
  work: Promise<T>,
  sandbox: Pick<Sandbox, 'cpuMs'>,
  idleMs: number,
  onProgress: () => void,
): Promise<T> {
  let last: { readonly used: number; readonly at: number } | null = null;
  let timer: NodeJS.Timeout;
  let over = false;
  const look = async () => {
    const used = await sandbox.cpuMs();
    if (over) return;
    const at = performance.now();
    if (used === null) onProgress();
    else {
      if (last !== null && used - last.used >= least(at - last.at)) onProgress();
      last = { used, at };
    }
    timer = setTimeout(() => void look(), idleMs / looks);
  };
  // Its start is a sign of life by itself: the first look comes later, and none for what is quick.
  timer = setTimeout(() => void look(), idleMs / looks);
  try {
    return await work;
  } finally {
    over = true;
    clearTimeout(timer);
    onProgress();
  }
}

function least(elapsedMs: number): number {
  return Math.max(leastCpuMs, (leastPerSecond * elapsedMs) / 1000);
}
