import type { Limits } from '../config/operator-config.ts';
import type { MemoryBounds } from '../domain/sandbox-estimate.ts';

/** What bounds the decisions about a graph; see `limits` of the operator file. */
export interface DecideLimits {
  /** Further attempts of a row after transient failures, and of all rows of a task together. */
  readonly retries: number;
  readonly taskRetries: number;
  /** Workers a row may lose before it is given up. */
  readonly deaths: number;
  readonly splitDepth: number;
  readonly verificationReruns: number;
  readonly conflictReruns: number;
  /** Of a sandbox. */
  readonly memory: MemoryBounds;
}

export function decideLimits(limits: Limits, memory: MemoryBounds): DecideLimits {
  return {
    retries: limits.retries,
    taskRetries: limits.task_retries,
    deaths: limits.deaths,
    splitDepth: limits.split_depth,
    verificationReruns: limits.verification_reruns,
    conflictReruns: limits.conflict_reruns,
    memory,
  };
}
