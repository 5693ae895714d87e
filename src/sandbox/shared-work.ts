/**
 * Work that several may ask for at once and that is done once. It goes on while anybody still wants it, and is
 * aborted when the last one has given up. A failure is not remembered.
 */
export function createSharedWork<T>(): (
  key: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T> {
  const running = new Map<string, { promise: Promise<T>; abort: AbortController; wanted: number }>();

  return async (key, signal, work) => {
    signal.throwIfAborted();
    let job = running.get(key);
    if (job === undefined) {
      const abort = new AbortController();
      const started = { promise: work(abort.signal), abort, wanted: 0 };
      const forget = () => {
        if (running.get(key) === started) running.delete(key);
      };
      started.promise.then(forget, forget);
      running.set(key, started);
      job = started;
    }
    const mine = job;
    mine.wanted += 1;
    return await new Promise<T>((resolve, reject) => {
      const leave = () => {
        mine.wanted -= 1;
        if (mine.wanted === 0) {
          // Whoever asks from now on starts anew.
          if (running.get(key) === mine) running.delete(key);
          mine.abort.abort(signal.reason);
        }
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      mine.promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  };
}
