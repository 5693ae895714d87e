/** Time a process group has after SIGTERM to put its temporary files away, milliseconds. */
const graceMs = 2000;

/**
 * Ends a detached child and all it started (git fetches through helper programs that outlive it and would
 * hold its output open) when `signal` aborts or `timeoutMs` is over. `release` once the child has ended.
 */
export function limitGroup(
  pid: number | undefined,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): { readonly why: () => 'cancelled' | 'timeout' | null; readonly release: () => void } {
  let why: 'cancelled' | 'timeout' | null = null;
  let hard: NodeJS.Timeout | undefined;
  const send = (name: NodeJS.Signals) => {
    try {
      if (pid !== undefined) process.kill(-pid, name);
    } catch (error) {
      // ESRCH: all of the group has ended already.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const end = (reason: 'cancelled' | 'timeout') => {
    if (why !== null) return;
    why = reason;
    send('SIGTERM');
    hard = setTimeout(() => send('SIGKILL'), graceMs);
  };
  const onAbort = () => end('cancelled');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return {
    why: () => why,
    release: () => {
      clearTimeout(timer);
      clearTimeout(hard);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}
