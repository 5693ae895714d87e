/**
 * Does `work` under a signal that aborts with `signal`, or after `ms`. The timer goes with the work: a signal of
 * `AbortSignal.timeout` stays until its time has come, and connections come by the thousand.
 */
export async function inTime<T>(
  signal: AbortSignal,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('it took too long')), ms);
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}
