import { constants } from 'node:os';

/** How a program that is run by hand can be stopped: by the first of these signals, once. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * The exit code of `work`, whose signal aborts when the program is told to stop. What it throws is said, and is 1; after
 * a signal the code says by which.
 */
export async function stoppable(
  say: (line: string) => void,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const stop = new AbortController();
  let stoppedBy: NodeJS.Signals | null = null;
  for (const name of signals) {
    process.on(name, () => {
      stoppedBy ??= name;
      stop.abort(new Error(`stopped by ${name}`));
    });
  }
  try {
    return await work(stop.signal);
  } catch (error) {
    if (stoppedBy === null) say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    else say(`stopped by ${stoppedBy}`);
    return stoppedBy === null ? 1 : 128 + constants.signals[stoppedBy];
  }
}
