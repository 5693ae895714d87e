import type { NetworkRule } from '../../config/sandbox-config.ts';

/** What sandboxes may reach: shapes. See ADR 0020. */

/** A line of the audit log, shaped as the store takes it. Nothing in it comes from a path, query, header or body. */
export interface EgressRecord {
  /** `attempt:ID` once the sandbox is handed over, before that `sandbox:NAME`. */
  readonly actor: string;
  /** `closed`: once, at the end of a sandbox that asked for anything. */
  readonly action: 'egress.allowed' | 'egress.refused' | 'egress.closed';
  /** `host:port` as asked for, cut and escaped; of `closed` the sandbox. */
  readonly subject: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface EgressOptions {
  /**
   * Keeps a record. Awaited before anything is let through: what cannot be recorded, or not in time, is refused.
   */
  readonly audit: (record: EgressRecord) => Promise<void>;
  /** Addresses of a name. By default the system's resolver. */
  readonly resolve?: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** `stream`: no socket is offered. By default the socket, and the stream where it does not work. */
  readonly transport?: 'auto' | 'stream';
  /** Ends of time, ms; for tests. */
  readonly limits?: Partial<EgressLimits>;
}

/** All in milliseconds. */
export interface EgressLimits {
  /** From the connection to the end of the request's head. */
  readonly headMs: number;
  /** For the name, and again for the connection. */
  readonly reachMs: number;
  /** For a record to be kept. */
  readonly recordMs: number;
  /** Without a byte in either direction. */
  readonly idleMs: number;
  /** Of one connection. */
  readonly wallMs: number;
}

export const egressLimits: EgressLimits = {
  headMs: 15_000,
  reachMs: 15_000,
  recordMs: 15_000,
  idleMs: 120_000,
  wallMs: 3_600_000,
};

/** A rule and what was asked for, host in lower case without a final dot. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** A refusal; `reason` is meant for whoever runs the command: plain words, and the remedy where there is one. */
export interface Refusal {
  readonly refused: string;
}

export type Judged = { readonly rule: NetworkRule } | Refusal;
