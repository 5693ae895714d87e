import type { Failure } from '../../domain/failure.ts';
import type { Delivery } from '../port.ts';

export interface Deliveries {
  /** One transaction; `duplicate` when the id is known. Rejects when it cannot be stored. */
  store(delivery: Pick<Delivery, 'id' | 'event' | 'action' | 'body'>): Promise<'stored' | 'duplicate'>;
  get(id: string): Promise<Delivery | null>;
  /** Counts a try of admission and returns how many there were, this one included. */
  begin(id: string): Promise<number>;
  settle(id: string, status: 'admitted' | 'ignored', reason: string | null): Promise<void>;
  /** Settles it as `failed`, and keeps it as a dead letter. */
  giveUp(id: string, failure: Failure): Promise<void>;
}
