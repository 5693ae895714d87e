const failing: ReadonlySet<string | null> = new Set(['failure', 'timed_out', 'startup_failure']);

/** Whether that conclusion of a check says that something is broken; one that was cancelled or went stale says nothing. */
export function isFailing(conclusion: string | null): boolean {
  return failing.has(conclusion);
}
