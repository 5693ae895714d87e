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
    // What is waited for starts processes; a second, the default, is little on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // One less than the cores by default, which is one on a small machine.
    maxWorkers: 2,
    projects: [
      project('unit', 0, { testTimeout: 15_000 }),
      project('integration', 1, { testTimeout: 60_000, hookTimeout: 120_000 }),
      // Whole processes and containers, which mostly wait: nothing in them is timed.
      project('attacks', 2, { testTimeout: 120_000, hookTimeout: 180_000 }),
      project('e2e', 3, { testTimeout: 180_000, hookTimeout: 180_000 }),
      project('chaos', 4, { testTimeout: 600_000, hookTimeout: 180_000 }),
    ],
  },
});
