import type { SandboxKind } from '../port.ts';
import { type PooledKind, pauseAfter } from './pool-plan.ts';

/** What a pool knows of the kinds that it was told of, by their keys. */
export interface PoolKinds {
  /** So many will be wanted next; 0: nobody will want another. */
  said(key: string, kind: SandboxKind, count: number): void;
  /** One was asked for. A kind that nobody spoke of stays unknown: nothing is started ahead for it. */
  taken(key: string): void;
  /** One of it was of use. */
  served(key: string): void;
  /** A start failed, or what was started died: nothing is started for a while. True: it is the first since one was of use. */
  failed(key: string): boolean;
  forget(key: string): void;
  kindOf(key: string): SandboxKind | null;
  all(): PooledKind[];
}

interface Entry {
  readonly kind: SandboxKind;
  wanted: number;
  over: boolean;
  seenAt: number;
  notBefore: number;
  /** Since one of it was of use. */
  failures: number;
}

export function createPoolKinds(idleMs: number, now: () => number): PoolKinds {
  const entries = new Map<string, Entry>();

  return {
    said(key, kind, count) {
      const known = entries.get(key);
      if (known === undefined && count <= 0) return;
      const fresh = { kind, wanted: 0, over: false, seenAt: 0, notBefore: 0, failures: 0 };
      const entry: Entry = known ?? fresh;
      entries.set(key, entry);
      entry.wanted = Math.max(0, count);
      entry.over = count <= 0;
      if (count > 0) entry.seenAt = now();
    },

    taken(key) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      // A word that is too old does not count again because of this one.
      entry.wanted = now() < entry.seenAt + idleMs ? Math.max(0, entry.wanted - 1) : 0;
      entry.seenAt = now();
    },

    served(key) {
      const entry = entries.get(key);
      if (entry !== undefined) entry.failures = 0;
    },

    failed(key) {
      const entry = entries.get(key);
      // Those that fail together are one failure.
      if (entry === undefined || now() < entry.notBefore) return false;
      entry.notBefore = now() + pauseAfter(entry.failures);
      entry.failures += 1;
      return entry.failures === 1;
    },

    forget: (key) => void entries.delete(key),
    kindOf: (key) => entries.get(key)?.kind ?? null,
    all: () =>
      [...entries].map(([key, { wanted, over, seenAt, notBefore }]) => ({
        ...{ key, wanted, over, seenAt, notBefore },
      })),
  };
}
