/**
 * The rows that are the truth (design decision 1). The queue can be rebuilt from them: what is due is a
 * query over `deliveries`, `tasks` and `attempts`; see `store/due.ts`.
 */

export * from './schema/attempts.ts';
export * from './schema/checkpoints.ts';
export * from './schema/dead-letters.ts';
export * from './schema/deliveries.ts';
export * from './schema/publications.ts';
export * from './schema/result-index.ts';
export * from './schema/results.ts';
export * from './schema/tasks.ts';
export * from './schema/workers.ts';
