import type { Duplex } from 'node:stream';

/**
 * Reads from a stream until `enough` says where the wanted part ends, and gives that part; what was read beyond is
 * put back. Null: the stream ended before. Rejects with a RangeError above `limit` bytes, with the signal's reason,
 * and with the stream's error.
 */
export async function readUntil(
  from: Duplex,
  limit: number,
  enough: (bytes: Buffer) => number | null,
  signal: AbortSignal,
): Promise<Buffer | null> {
  let held: Buffer = Buffer.alloc(0);
  for (;;) {
    signal.throwIfAborted();
    const chunk: unknown = from.read();
    if (Buffer.isBuffer(chunk)) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const end = enough(held);
      if (end !== null && end <= limit) {
        if (end < held.length) from.unshift(held.subarray(end));
        return held.subarray(0, end);
      }
      if (held.length > limit) throw new RangeError(`more than ${limit} bytes`);
      continue;
    }
    if (from.readableEnded) return null;
    await readable(from, signal);
    if (from.destroyed && !from.readableEnded) throw from.errored ?? new Error('the stream was closed');
  }
}

function readable(from: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const events = ['readable', 'end', 'close', 'error'] as const;
    const done = () => {
      for (const event of events) from.off(event, done);
      signal.removeEventListener('abort', aborted);
      resolve();
    };
    const aborted = () => {
      done();
      reject(signal.reason);
    };
    for (const event of events) from.on(event, done);
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
    else if (from.readableEnded || from.destroyed || from.readableLength > 0) done();
  });
}

/** Where a head ends: after its empty line. A bare LF ends it as well, for the parser to refuse it at once. */
export function endOfHead(bytes: Buffer): number | null {
  const end = bytes.indexOf('\r\n\r\n');
  const bare = bytes.indexOf('\n\n');
  if (end === -1) return bare === -1 ? null : bare + 2;
  return bare === -1 || end < bare ? end + 4 : bare + 2;
}
