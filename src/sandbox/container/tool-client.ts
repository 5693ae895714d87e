import type { Duplex, Writable } from 'node:stream';
import { createChannels } from '../../../sandbox/channels.ts';
import { type EgressTransport, maxEgressConnections } from '../../../sandbox/egress-place.ts';
import {
  createFrameDecoder,
  encodeChannelFrame,
  encodeFrame,
  protocolVersion,
  type ToolRequest,
} from '../../../sandbox/protocol.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import { helloSchema, type ResultOf, responseSchema, resultSchemas } from './tool-responses.ts';

/**
 * What a tool of the sandbox refuses or cannot do: no such file, not a regular expression. Its text is meant
 * for the agent, which may try otherwise; the sandbox is fine.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** One conversation with a tool server. */
export interface ToolClient {
  /** Resolves once the server has said hello in our version; rejects when it says anything else, or dies. */
  readonly ready: Promise<void>;
  /** How the sandbox's connections get out, as the server says; null: they do not. */
  readonly egress: () => EgressTransport | null;
  /** Resolves with the reason once the conversation is over. */
  readonly over: Promise<Error>;
  /**
   * Sends a request and gives its validated result. Rejects with {@link ToolError} for what the server refused,
   * with the signal's reason when it aborts (the server is told), and with `sandbox_died` when the conversation
   * is over or no answer came within `deadlineMs`.
   */
  call<R extends ToolRequest>(
    request: R,
    signal: AbortSignal,
    deadlineMs: number,
  ): Promise<ResultOf<R['op']>>;
  /** Ends the conversation: every call, pending or to come, rejects with `reason`. The first reason stands. */
  end(reason: Error): void;
}

interface Pending {
  readonly op: ToolRequest['op'];
  settle(outcome: { result: unknown } | { error: Error }): void;
}

/** Channels open at once. The server keeps to fewer connections; those that end here a moment later are no offence. */
const maxChannels = 4 * maxEgressConnections;
/** Bytes that may wait for a server that does not read. Requests are large at times, and the channels' windows are in it. */
const maxUnread = 64 * 1024 * 1024;

/**
 * `output` is what the server prints; `whyOver` is asked for the reason when it ends by itself. `accept` is given the
 * channels that the server opens; without it, it may open none.
 */
export function createToolClient(
  input: Writable,
  output: AsyncIterable<Buffer>,
  whyOver: (what: string) => Promise<Error>,
  accept: ((channel: Duplex) => void) | null = null,
): ToolClient {
  const pending = new Map<number, Pending>();
  /** Requests that nobody waits for any more: each may still be answered, once. */
  const givenUp = new Set<number>();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  const ended = Promise.withResolvers<Error>();
  let greeted = false;
  let transport: EgressTransport | null = null;
  let nextId = 1;
  let over: Error | null = null;

  function end(reason: Error): void {
    if (over !== null) return;
    over = reason;
    ready.reject(reason);
    ended.resolve(reason);
    for (const call of [...pending.values()]) call.settle({ error: reason });
    channels.close();
  }

  /** Whoever fills the worker's memory by not reading is let go. */
  function sendOfChannel(frame: Buffer): void {
    if (over !== null) return;
    input.write(encodeChannelFrame(frame));
    if (input.writableLength > maxUnread)
      end(new PatchfleetError('sandbox_died', 'the tool server does not read what it is sent'));
  }
  const channels = createChannels(
    sendOfChannel,
    accept === null ? null : { limit: maxChannels, take: accept },
  );

  function receive(message: unknown): void {
    if (!greeted) {
      const hello = helloSchema.parse(message).hello;
      if (hello.protocol !== protocolVersion) {
        throw new Error(`the tool server speaks version ${hello.protocol}, not ${protocolVersion}`);
      }
      if (accept !== null && (hello.egress ?? null) === null)
        throw new Error('the tool server offers no way out');
      greeted = true;
      transport = hello.egress ?? null;
      ready.resolve();
      return;
    }
    if (Buffer.isBuffer(message)) {
      if (accept === null) throw new Error('it speaks of channels, and has none');
      channels.receive(message);
      return;
    }
    const frame = responseSchema.parse(message);
    const call = pending.get(frame.id);
    if (call === undefined) {
      if (givenUp.delete(frame.id)) return;
      // Each frame costs the worker time, so that nothing is taken that was not asked for.
      throw new Error('it answers what was not asked');
    }
    if ('error' in frame) {
      call.settle({ error: new ToolError(frame.error) });
      return;
    }
    const result = resultSchemas[call.op].safeParse(frame.result);
    call.settle(
      result.success
        ? { result: result.data }
        : { error: new PatchfleetError('sandbox_died', 'the tool server gave an answer of the wrong shape') },
    );
  }

  async function listen(): Promise<void> {
    const decode = createFrameDecoder();
    let what = 'its output ended';
    try {
      for await (const chunk of output) {
        // Whatever it goes on to say is not listened to.
        if (over !== null) return;
        for (const message of decode(chunk)) receive(message);
      }
    } catch (thrown) {
      what = `its output cannot be read on: ${thrown instanceof Error ? thrown.message.slice(0, 500) : String(thrown)}`;
    }
    if (over === null) end(await whyOver(what));
  }
  void listen();
  // A broken pipe shows at the other stream as well, with the reason.
  input.on('error', () => {});

  function call<R extends ToolRequest>(request: R, signal: AbortSignal, deadlineMs: number) {
    return new Promise<ResultOf<R['op']>>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (over !== null) return reject(over);
      const id = nextId++;
      const cancel = () => {
        if (over !== null) return;
        givenUp.add(id);
        input.write(encodeFrame({ cancel: id }));
      };
      const aborted = () => {
        cancel();
        settle({ error: signal.reason });
      };
      const deadline = setTimeout(() => {
        cancel();
        settle({
          error: new PatchfleetError(
            'sandbox_died',
            `no answer to \`${request.op}\` within ${deadlineMs} ms`,
          ),
        });
      }, deadlineMs);
      const settle: Pending['settle'] = (outcome) => {
        if (!pending.delete(id)) return;
        clearTimeout(deadline);
        signal.removeEventListener('abort', aborted);
        if ('error' in outcome) reject(outcome.error);
        else resolve(outcome.result as ResultOf<R['op']>);
      };
      let frame: Buffer;
      try {
        frame = encodeFrame({ id, request });
      } catch (thrown) {
        clearTimeout(deadline);
        return reject(new ToolError(thrown instanceof Error ? thrown.message : String(thrown)));
      }
      pending.set(id, { op: request.op, settle });
      signal.addEventListener('abort', aborted, { once: true });
      input.write(frame);
    });
  }

  return { ready: ready.promise, egress: () => transport, over: ended.promise, call, end };
}
