import type { Composition } from './compose.ts';

/** Checks what the configuration points to. Each problem is one line with its remedy; empty: all well. */
export async function runDoctor(
  parts: Pick<Composition, 'store' | 'github' | 'sandboxes'>,
): Promise<string[]> {
  const check = async (name: string, remedy: string, work: () => Promise<unknown>): Promise<string[]> => {
    try {
      await work();
      return [];
    } catch (error) {
      return [`${name}: ${error instanceof Error ? error.message : String(error)}. ${remedy}`];
    }
  };
  const [database, github, sandboxes] = await Promise.all([
    check('database', 'Check DATABASE_URL.', () => parts.store.ping()),
    check('GitHub App', 'Check APP_ID, PRIVATE_KEY and GITHUB_API_URL.', () => parts.github.self()),
    parts.sandboxes.check(),
  ]);
  return [...database, ...github, ...sandboxes.problems];
}
