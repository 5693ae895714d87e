/** A bound on how many calls run at once; who waits is served in the order of asking. */
export interface Slots {
  /** Resolves with the function that gives the slot back. Rejects with the signal's reason when aborted. */
  take(signal: AbortSignal): Promise<() => void>;
  /** The same at once, before nobody who waits; null: none is free. */
  tryTake(): (() => void) | null;
}

export function createSlots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();

  const giveBack = () => {
    const [next] = waiting;
    if (next === undefined) free += 1;
    else next();
  };
  const once = () => {
    let given = false;
    return () => {
      if (!given) giveBack();
      given = true;
    };
  };

  // A slot is free only while nobody waits.
  const tryTake = () => {
    if (free === 0) return null;
    free -= 1;
    return once();
  };

  return {
    tryTake,
    async take(signal) {
      signal.throwIfAborted();
      const taken = tryTake();
      if (taken !== null) return taken;
      await new Promise<void>((resolve, reject) => {
        const granted = () => {
          waiting.delete(granted);
          signal.removeEventListener('abort', aborted);
          resolve();
        };
        const aborted = () => {
          waiting.delete(granted);
          reject(signal.reason);
        };
        waiting.add(granted);
        signal.addEventListener('abort', aborted, { once: true });
      });
      return once();
    },
  };
}
