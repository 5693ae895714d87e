import type { OperatorConfig } from '../config/operator-config.ts';
import type { GitHub } from '../github/port.ts';
import type { Publisher } from '../publishing/port.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Delivery, Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';

export interface AdmissionPorts {
  readonly store: Pick<Store, 'deliveries' | 'tasks' | 'views' | 'audit' | 'withLock'>;
  readonly queue: Queue;
  readonly github: GitHub;
  readonly publisher: Publisher;
  readonly operatorConfig: Pick<OperatorConfig, 'agents' | 'sandbox'>;
  readonly log: Logger;
}

/** The admission of one delivery. */
export interface Admitting extends AdmissionPorts {
  readonly delivery: Delivery;
  readonly signal: AbortSignal;
}

/** What became of a delivery. */
export interface Settlement {
  readonly status: 'admitted' | 'ignored';
  readonly reason: string | null;
}

export const admitted: Settlement = { status: 'admitted', reason: null };

export function ignoredFor(reason: string): Settlement {
  return { status: 'ignored', reason };
}
