/**
 * What worker and tool server say to each other, over the standard streams of the container's main process.
 * A frame is a length (4 bytes, unsigned, big-endian) and that many bytes of JSON in UTF-8; or, where the length's
 * highest bit is set, bytes of a channel (channels.ts). The server says hello first; then each request has one
 * response with the same id, in any order.
 *
 * Used on both sides, so it imports nothing but node's own modules.
 */

import { createByteQueue } from './byte-queue.ts';
import { channelHeaderBytes, maxChannelBytes } from './channels.ts';
import type { EgressTransport } from './egress-place.ts';

/** Raised whenever frames of an older side would be misread. */
export const protocolVersion = 3;

/** Bytes a frame may have, in either direction. */
export const maxFrameBytes = 16 * 1024 * 1024;

/** Bytes of each output stream of a run that are kept: the default, and the most one can ask for. */
export const defaultMaxBuffer = 256 * 1024;
export const greatestMaxBuffer = 4 * 1024 * 1024;

/** Milliseconds a list, read or search may take before the server answers with what it has, or an error. */
export const lookupLimitMs = 20_000;

export interface ListRequest {
  readonly op: 'list';
  readonly path: string;
  readonly limit: number;
}
export interface ReadRequest {
  readonly op: 'read';
  readonly path: string;
  /** Lines, 1-based and inclusive. */
  readonly start: number;
  readonly end: number | null;
}
export interface SearchRequest {
  readonly op: 'search';
  readonly pattern: string;
  readonly path: string;
  readonly limit: number;
}
export interface RunRequest {
  readonly op: 'run';
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly wallMs: number;
  readonly idleMs: number | null;
  readonly maxBuffer: number;
  readonly stdin: string;
}
export interface WriteRequest {
  readonly op: 'write';
  readonly path: string;
  readonly content: string;
  /** Null: as it is, or not executable where the file is new. */
  readonly executable: boolean | null;
}
export interface EditRequest {
  readonly op: 'edit';
  readonly path: string;
  readonly old: string;
  readonly replacement: string;
}
export interface RemoveRequest {
  readonly op: 'remove';
  readonly path: string;
}
export type ToolRequest =
  | ListRequest
  | ReadRequest
  | SearchRequest
  | RunRequest
  | WriteRequest
  | EditRequest
  | RemoveRequest;

/** What the worker sends. A cancel has no response of its own: the cancelled request has. */
export type RequestFrame =
  | { readonly id: number; readonly request: ToolRequest }
  | { readonly cancel: number };

/** What the server sends. `error` is a text for whoever asked (no such file, not a pattern, ...). */
export type ResponseFrame =
  | {
      readonly hello: {
        readonly protocol: number;
        /** How connections get out of the sandbox; null: they do not. */
        readonly egress: EgressTransport | null;
      };
    }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: string };

/** Marks the length of a frame that holds bytes of a channel. */
const channelBit = 0x8000_0000;

/** The bytes of a frame of a channel. */
export function encodeChannelFrame(body: Buffer): Buffer {
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE((channelBit | body.length) >>> 0, 0);
  return Buffer.concat([length, body]);
}

/** The bytes of a frame. Throws a RangeError when the message is too large for one. */
export function encodeFrame(message: RequestFrame | ResponseFrame): Buffer {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  if (body.length > maxFrameBytes) throw new RangeError(`a frame of ${body.length} bytes is too large`);
  const frame = Buffer.allocUnsafe(4 + body.length);
  frame.writeUInt32BE(body.length, 0);
  body.copy(frame, 4);
  return frame;
}

/**
 * Takes bytes as they come and gives the messages completed by them, parsed but not validated; frames of channels
 * as Buffers of their own. Throws on a frame above its limit or one that is not JSON; the stream cannot be read on
 * after that.
 */
export function createFrameDecoder(limit = maxFrameBytes): (chunk: Buffer) => unknown[] {
  const held = createByteQueue();
  return (chunk) => {
    held.add(chunk);
    const all = held.view();
    const messages: unknown[] = [];
    let at = 0;
    while (all.length - at >= 4) {
      const announced = all.readUInt32BE(at);
      const ofChannel = announced >= channelBit;
      const expected = ofChannel ? announced - channelBit : announced;
      const most = ofChannel ? channelHeaderBytes + maxChannelBytes : limit;
      if (expected > most)
        throw new RangeError(`a frame of ${expected} bytes is announced, ${most} is the limit`);
      const body = all.subarray(at + 4, at + 4 + expected);
      if (body.length < expected) break;
      at += 4 + expected;
      messages.push(ofChannel ? Buffer.from(body) : JSON.parse(body.toString('utf8')));
    }
    held.drop(at);
    return messages;
  };
}
