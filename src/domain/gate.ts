/** Lets at most `size` jobs run at once; the others wait in order. One that is aborted while it waits never runs. */
export function createGate(size: number): <T>(signal: AbortSignal, job: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting = new Set<() => void>();

  return async (signal, job) => {
    signal.throwIfAborted();
    if (running >= size) {
      await new Promise<void>((resolve, reject) => {
        const enter = () => {
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = () => {
          waiting.delete(enter);
          reject(signal.reason);
        };
        waiting.add(enter);
        signal.addEventListener('abort', leave, { once: true });
      });
    } else {
      running += 1;
    }
    try {
      return await job();
    } finally {
      // The place passes to the one who waits longest, so nobody can slip in between.
      const [next] = waiting;
      if (next === undefined) {
        running -= 1;
      } else {
        waiting.delete(next);
        next();
      }
    }
  };
}
