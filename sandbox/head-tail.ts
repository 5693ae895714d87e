import { createByteQueue } from './byte-queue.ts';

/**
 * Keeps the first and the last bytes of a stream, half of the limit each: the beginning says what ran, the
 * end says how it failed. Memory stays below a few times the limit, in however small chunks it comes.
 */
export interface HeadTail {
  push(chunk: Buffer): void;
  readonly truncated: boolean;
  /** The text kept, with a line that says how many bytes are missing where some are. */
  text(): string;
}

export function createHeadTail(limit: number): HeadTail {
  const headLimit = Math.ceil(limit / 2);
  const tailLimit = limit - headLimit;
  const head = createByteQueue();
  const tail = createByteQueue();
  let total = 0;

  return {
    push(chunk) {
      total += chunk.length;
      const toHead = chunk.subarray(0, headLimit - head.length);
      head.add(toHead);
      tail.add(chunk.subarray(toHead.length));
      // Seldom, so that many small chunks cost little.
      if (tail.length > 2 * tailLimit + 4096) tail.drop(tail.length - tailLimit);
    },
    get truncated() {
      return total > limit;
    },
    text() {
      if (total <= limit) return Buffer.concat([head.view(), tail.view()]).toString('utf8');
      const begin = wholeEnd(head.view());
      const end = wholeStart(lastBytes(tail.view(), tailLimit));
      const missing = total - begin.length - end.length;
      return `${begin.toString('utf8')}\n[... ${missing} bytes left out ...]\n${end.toString('utf8')}`;
    },
  };
}

function lastBytes(bytes: Buffer, count: number): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - count));
}

/** Drops a character cut off at the end. */
function wholeEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes;
    if (byte >= 0xc0) {
      const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needed > back ? bytes.subarray(0, bytes.length - back) : bytes;
    }
  }
  return bytes;
}

/** Drops the rest of a character cut off at the start. */
function wholeStart(bytes: Buffer): Buffer {
  let from = 0;
  while (from < Math.min(3, bytes.length) && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from);
}
