import { defineConfig } from 'vitest/config';

const root = new URL('..', import.meta.url).pathname;

/** One after the other: each kind has the two cores of a small machine to itself. */
const project = (name: string, groupOrder: number, more: object = {}) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.{ts,mjs}`], sequence: { groupOrder }, ...more },
});

export default defineConfig({
  root,
  cacheDir: 'node_modules/.vite',
  test: {
    restoreMocks: true,
    setupFiles: ['test/support/seed.ts'],
    // What is waited for starts processes and containers, on a machine that may be slow and busy.
    expect: { poll: { timeout: 60_000 } },
    // One less than the cores by default, which is one on a small machine.
    maxWorkers: 2,
    projects: [
      // Limits end what hangs, and are far beyond what a slow and busy machine takes: nothing here is timed.
      project('unit', 0, { testTimeout: 180_000, hookTimeout: 180_000 }),
      project('integration', 1, { testTimeout: 180_000, hookTimeout: 180_000 }),
      project('attacks', 2, { testTimeout: 240_000, hookTimeout: 240_000 }),
      project('e2e', 3, { testTimeout: 480_000, hookTimeout: 240_000 }),
      project('chaos', 4, { testTimeout: 1_200_000, hookTimeout: 240_000 }),
    ],
  },
});
