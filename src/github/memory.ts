/**
 * Remembers what never changes (what a commit holds), so that the attempts of a task ask git once and not each. The
 * `limit` that were asked for last are kept; who asks meanwhile shares the answer, and a failure is forgotten.
 */
export function createMemory<T>(limit: number): (key: string, make: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, Promise<T>>();
  return (key, make) => {
    const known = kept.get(key);
    const answer = known ?? make();
    kept.delete(key);
    kept.set(key, answer);
    if (known === undefined) {
      answer.catch(() => {
        if (kept.get(key) === answer) kept.delete(key);
      });
      for (const oldest of kept.keys()) {
        if (kept.size <= limit) break;
        kept.delete(oldest);
      }
    }
    return answer;
  };
}
