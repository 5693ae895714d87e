import { containerWeaknesses } from './container.ts';
import { proxyWeaknesses } from './proxy.ts';
import type { Weakness } from './weakness.ts';
import { workerWeaknesses } from './worker.ts';

export const weaknesses: readonly Weakness[] = [
  ...containerWeaknesses,
  ...workerWeaknesses,
  ...proxyWeaknesses,
];
