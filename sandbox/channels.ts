import { Duplex } from 'node:stream';
import { createByteQueue } from './byte-queue.ts';

/**
 * Byte streams beside the requests, over the same two pipes: the way out of a sandbox where the runtime refuses a
 * socket. Each side may have a window of bytes under way per channel; what was consumed is credited. Whatever does
 * not keep to that ends the conversation: on the worker's side the other one is not trusted.
 *
 * Used on both sides, so it imports nothing but node's own modules.
 */

/** Bytes a channel may have under way in each direction, and of one frame. */
export const channelWindow = 128 * 1024;
export const maxChannelBytes = 32 * 1024;

const kinds = { open: 1, data: 2, end: 3, close: 4, credit: 5 } as const;
/** Kind (1 byte) and channel (4 bytes, unsigned, big-endian), before the payload. */
export const channelHeaderBytes = 5;

export interface Channels {
  /** Takes a frame of the other side. Throws on what it must not send. */
  receive(frame: Buffer): void;
  /** A new channel to the other side. */
  open(): Duplex;
  /** Ends all channels. */
  close(): void;
}

interface Channel {
  readonly stream: Duplex;
  take(payload: Buffer): void;
  ended(): void;
  credit(bytes: number): void;
}

/**
 * One side's channels. `send` takes the body of a frame. `accept` is given what the other side opens, `limit` at a
 * time; without it the other side may open none.
 */
export function createChannels(
  send: (frame: Buffer) => void,
  accept: { readonly limit: number; readonly take: (channel: Duplex) => void } | null,
): Channels {
  const channels = new Map<number, Channel>();
  let opened = 0;
  let lastSeen = 0;

  const frame = (kind: keyof typeof kinds, id: number, payload: Buffer = Buffer.alloc(0)) => {
    const head = Buffer.alloc(channelHeaderBytes);
    head.writeUInt8(kinds[kind], 0);
    head.writeUInt32BE(id, 1);
    send(Buffer.concat([head, payload]));
  };

  function add(id: number): Duplex {
    const channel = createChannel(
      (kind, payload) => frame(kind, id, payload),
      () => channels.delete(id),
    );
    channels.set(id, channel);
    return channel.stream;
  }

  return {
    receive(bytes) {
      if (bytes.length < channelHeaderBytes) throw new RangeError('a channel frame is too short');
      const kind = bytes.readUInt8(0);
      const id = bytes.readUInt32BE(1);
      const payload = bytes.subarray(channelHeaderBytes);
      if (kind === kinds.open) {
        if (accept === null) throw new Error('the other side opens a channel, which it must not');
        // Numbers go up, so that a channel that was closed here is not taken for a new one.
        if (id <= lastSeen || payload.length > 0) throw new Error('a channel is opened twice');
        if (channels.size >= accept.limit) throw new Error(`more than ${accept.limit} channels are opened`);
        lastSeen = id;
        accept.take(add(id));
        return;
      }
      // One that is over may be spoken of for a while.
      if (id === 0 || id > Math.max(opened, lastSeen)) throw new Error('a channel that was never opened');
      const channel = channels.get(id);
      if (kind === kinds.data) {
        if (payload.length === 0 || payload.length > maxChannelBytes)
          throw new RangeError(`${payload.length} bytes are no piece of a channel`);
        channel?.take(payload);
      } else if (kind === kinds.credit) {
        const credit = payload.length === 4 ? payload.readUInt32BE(0) : 0;
        if (credit === 0) throw new RangeError('a credit is a number of bytes, in four');
        channel?.credit(credit);
      } else if (payload.length > 0) throw new RangeError('a channel frame is too long');
      else if (kind === kinds.end) channel?.ended();
      else if (kind === kinds.close) channel?.stream.destroy();
      else throw new Error(`${kind} is no kind of channel frame`);
    },
    open() {
      opened += 1;
      frame('open', opened);
      return add(opened);
    },
    close() {
      for (const { stream } of [...channels.values()]) stream.destroy();
    },
  };
}

function createChannel(
  say: (kind: 'data' | 'end' | 'close' | 'credit', payload?: Buffer) => void,
  gone: () => void,
): Channel {
  /** Received and not consumed. */
  const waiting = createByteQueue();
  let wanted = false;
  let theyEnded = false;
  let weEnded = false;
  /** Bytes the other side may still send, and we. */
  let theirs = channelWindow;
  let ours = channelWindow;
  /** Consumed and not yet credited. */
  let consumed = 0;
  let blocked: (() => void) | null = null;

  function give(): void {
    if (wanted && waiting.length > 0) {
      const piece = Buffer.from(waiting.view());
      waiting.drop(piece.length);
      consumed += piece.length;
      wanted = stream.push(piece);
    }
    if (theyEnded && waiting.length === 0) {
      if (wanted) stream.push(null);
      wanted = false;
    } else if (consumed >= channelWindow / 4) {
      const payload = Buffer.alloc(4);
      payload.writeUInt32BE(consumed, 0);
      theirs += consumed;
      consumed = 0;
      say('credit', payload);
    }
  }

  function write(bytes: Buffer, done: () => void): void {
    let at = 0;
    while (at < bytes.length && ours > 0) {
      const piece = bytes.subarray(at, at + Math.min(ours, maxChannelBytes));
      at += piece.length;
      ours -= piece.length;
      say('data', piece);
    }
    if (at === bytes.length) done();
    else blocked = () => write(bytes.subarray(at), done);
  }

  const stream = new Duplex({
    // What waits does so here, in one piece, and is credited once it is asked for.
    readableHighWaterMark: 1,
    writableHighWaterMark: maxChannelBytes,
    read() {
      wanted = true;
      give();
    },
    write(chunk: Buffer, _, done) {
      write(chunk, done);
    },
    final(done) {
      weEnded = true;
      say('end');
      done();
    },
    destroy(error, done) {
      gone();
      if (!(weEnded && theyEnded)) say('close');
      done(error);
    },
  });

  return {
    stream,
    take(payload) {
      if (theyEnded) throw new Error('a channel goes on after its end');
      theirs -= payload.length;
      if (theirs < 0) throw new RangeError('a channel sends more than it may');
      waiting.add(payload);
      give();
    },
    ended() {
      if (theyEnded) throw new Error('a channel ends twice');
      theyEnded = true;
      give();
    },
    credit(bytes) {
      ours += bytes;
      if (ours > channelWindow) throw new RangeError('a channel is credited more than was sent');
      const resume = blocked;
      blocked = null;
      resume?.();
    },
  };
}
