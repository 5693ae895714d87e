import { type EgressRecord, egressLimits, type Target } from './egress.ts';

/** Rows that one sandbox may cause; what is beyond is counted in its last row. Apart, so that neither drowns the other. */
const maxAllowedRows = 500;
const maxRefusedRows = 100;

/** The audit log of one sandbox. */
export interface EgressRecords {
  /** Who has the sandbox now. */
  handOver(who: { readonly taskId: string; readonly attemptId: string }): void;
  /** Rejects when it cannot be recorded in time: then nothing may be let through. */
  allowed(target: Target, how: { readonly method: string; readonly address: string }): Promise<void>;
  /** Never rejects: what is refused stays refused. */
  refused(asked: Target | null, reason: string): Promise<void>;
  passed(target: Target, direction: 'sent' | 'received', bytes: number): void;
  /** The last row, with the sums. Never rejects. */
  close(): Promise<void>;
}

/** `limitMs`: how long one record may take. One that is kept later is of a request that was refused. */
export function createEgressRecords(
  sandbox: string,
  audit: (record: EgressRecord) => Promise<void>,
  limitMs: number = egressLimits.recordMs,
): EgressRecords {
  let actor = `sandbox:${sandbox}`;
  let task: string | null = null;
  const counts = { allowed: 0, refused: 0 };
  const places = new Map<string, { requests: number; sent: number; received: number }>();
  const placeOf = (target: Target) => {
    const name = nameOf(target);
    const place = places.get(name) ?? { requests: 0, sent: 0, received: 0 };
    places.set(name, place);
    return place;
  };
  const write = async (
    action: EgressRecord['action'],
    subject: string,
    detail: Readonly<Record<string, unknown>>,
  ): Promise<void> => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('the record is not kept in time')), limitMs);
    const kept = audit({ actor, action, subject, detail: { sandbox, task, ...detail } });
    await Promise.race([kept, late.promise]).finally(() => clearTimeout(timer));
  };

  return {
    handOver({ taskId, attemptId }) {
      actor = `attempt:${attemptId}`;
      task = taskId;
    },
    async allowed(target, how) {
      counts.allowed += 1;
      placeOf(target).requests += 1;
      if (counts.allowed <= maxAllowedRows)
        await write('egress.allowed', nameOf(target), { ...target, ...how });
    },
    async refused(asked, reason) {
      counts.refused += 1;
      if (counts.refused > maxRefusedRows) return;
      const subject = asked === null ? '-' : nameOf(asked);
      const detail = { host: asked?.host ?? null, port: asked?.port ?? null, reason: reason.slice(0, 500) };
      await write('egress.refused', subject, detail).catch(() => {});
    },
    passed(target, direction, bytes) {
      placeOf(target)[direction] += bytes;
    },
    async close() {
      if (counts.allowed + counts.refused === 0) return;
      const withoutRow =
        Math.max(0, counts.allowed - maxAllowedRows) + Math.max(0, counts.refused - maxRefusedRows);
      const detail = { ...counts, withoutRow, places: Object.fromEntries(places) };
      await write('egress.closed', sandbox, detail).catch(() => {});
    },
  };
}

const nameOf = ({ host, port }: Target) => `${host}:${port}`;
