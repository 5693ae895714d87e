import { Transform } from 'node:stream';
import type { Target } from './egress.ts';
import type { Passage } from './proxy.ts';

/** Counts what goes through and tells that the connection is alive. */
export interface Meters {
  meter(direction: 'sent' | 'received'): Transform;
  /** Aborts once nothing went through for the idle limit. */
  readonly idle: AbortSignal;
  stop(): void;
}

export function createMeters(
  { limits, records }: Pick<Passage, 'limits' | 'records'>,
  target: Target,
): Meters {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new Error('nothing came for too long')), limits.idleMs);
  return {
    meter: (direction) =>
      new Transform({
        transform(chunk: Buffer, _, done) {
          timer.refresh();
          records.passed(target, direction, chunk.length);
          done(null, chunk);
        },
      }),
    idle: idle.signal,
    stop: () => clearTimeout(timer),
  };
}
