/**
 * Keeps the first and the last bytes of a stream, half of the limit each: the beginning says what ran, the
 * end says how it failed. Memory stays below the limit plus one chunk.
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
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;

  return {
    push(chunk) {
      total += chunk.length;
      const toHead = chunk.subarray(0, headLimit - headBytes);
      if (toHead.length > 0) {
        head.push(toHead);
        headBytes += toHead.length;
      }
      const toTail = chunk.subarray(toHead.length);
      if (toTail.length === 0) return;
      tail.push(toTail);
      tailBytes += toTail.length;
      // Compact seldom, so that many small chunks cost little.
      if (tailBytes > 2 * tailLimit + 4096 || tail.length > 1024) {
        const kept = Buffer.from(lastBytes(Buffer.concat(tail, tailBytes), tailLimit));
        tail = [kept];
        tailBytes = kept.length;
      }
    },
    get truncated() {
      return total > limit;
    },
    text() {
      const first = Buffer.concat(head, headBytes);
      if (total <= limit) return Buffer.concat([first, ...tail]).toString('utf8');
      const begin = wholeEnd(first);
      const end = wholeStart(lastBytes(Buffer.concat(tail, tailBytes), tailLimit));
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
