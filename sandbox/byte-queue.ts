/**
 * Bytes in the order they came, copied together. Pieces kept one by one cost the sender a byte and the keeper some two
 * hundred, and each holds on to all that came with it: whoever writes byte by byte would fill the memory of the reader.
 *
 * Used on both sides, so it imports nothing.
 */
export interface ByteQueue {
  readonly length: number;
  add(piece: Uint8Array): void;
  /** All of them, as they lie: good until the next change. */
  view(): Buffer;
  /** Forgets that many of the first. */
  drop(count: number): void;
}

/** Room that is kept though it is not in use, bytes. */
const spareBytes = 256 * 1024;

export function createByteQueue(): ByteQueue {
  let room: Buffer = Buffer.alloc(0);
  let from = 0;
  let to = 0;
  const view = () => room.subarray(from, to);

  /** Moves what is held into a room of that size, or to the beginning of the one it has. */
  function move(into: Buffer): void {
    into.set(view());
    to -= from;
    from = 0;
    room = into;
  }

  return {
    get length() {
      return to - from;
    },
    add(piece) {
      const needed = to - from + piece.length;
      // Twice what is needed, so that no byte is moved often.
      if (to + piece.length > room.length)
        move(2 * needed > room.length ? Buffer.allocUnsafeSlow(2 * needed) : room);
      room.set(piece, to);
      to += piece.length;
    },
    view,
    drop(count) {
      from += count;
      const held = to - from;
      if (room.length > spareBytes + 4 * held) move(Buffer.allocUnsafeSlow(held));
      else if (held === 0) from = to = 0;
    },
  };
}
