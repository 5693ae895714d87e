import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { ContainerCreateOptions } from 'dockerode';
import { createHeadTail } from '../../../sandbox/head-tail.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import { endedForMemory, memoryExhausted } from './container-memory.ts';
import { type Engine, engineStatus, openStream } from './docker-host.ts';
import { readDockerStream } from './docker-stream.ts';
import { createToolClient, type ToolClient } from './tool-client.ts';

/** How long a container may take from start to the tool server's hello, ms. Cold starts on a busy machine take seconds. */
const helloLimitMs = 30_000;
/** How long an engine may take to notice that a container ended, ms. */
const exitLimitMs = 3000;
/** Bytes a tool server may complain. It has a line to say when it dies: more is meant to keep the worker busy. */
const mostComplaints = 1024 * 1024;

export interface StartedContainer {
  readonly id: string;
  readonly client: ToolClient;
  /** Lets go of the streams. The container then ends by itself. */
  detach(): void;
}

/**
 * Creates a container, attaches, starts it and waits for the tool server. Whatever goes wrong, the caller
 * removes the container by its name: it may exist even if this rejects. `accept` is given the connections that the
 * sandbox makes over the stream.
 */
export async function startContainer(
  engine: Engine,
  spec: ContainerCreateOptions,
  signal: AbortSignal,
  accept: ((connection: Duplex) => void) | null = null,
): Promise<StartedContainer> {
  // Not aborted by the signal: a create that the engine finishes unseen would leave a container behind.
  const container = await engine.requests.createContainer(spec);
  signal.throwIfAborted();
  // Attached before the start, so that nothing said is missed.
  const streams = { stream: true, stdin: true, stdout: true, stderr: true, hijack: true };
  const stream = await openStream(signal, (abortSignal) =>
    engine.streams.getContainer(container.id).attach({ ...streams, abortSignal }),
  );
  const complaints = createHeadTail(8192);
  let complained = 0;

  async function* output(): AsyncGenerator<Buffer> {
    for await (const part of readDockerStream(stream as AsyncIterable<Buffer>)) {
      if (part.stream === 'stdout') {
        yield part.data;
        continue;
      }
      complaints.push(part.data);
      complained += part.data.length;
      if (complained > mostComplaints) throw new Error('it complains without end');
    }
  }

  const detach = () => {
    if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
  };
  const whyOver = async (what: string) => {
    const why = await howItEnded(container, spec).catch(() => 'the engine does not say why');
    if (why instanceof PatchfleetError) return why;
    const said = complaints.text().trim().slice(-1000);
    return new PatchfleetError(
      'sandbox_died',
      `${what}; ${why}${said === '' ? '' : `; it printed: ${said}`}`,
    );
  };
  // Hijacked, it is the connection's socket.
  const client = createToolClient(stream as Duplex, output(), whyOver, accept);
  try {
    signal.throwIfAborted();
    await container.start();
    await within(client.ready, helloLimitMs, signal);
  } catch (thrown) {
    detach();
    throw thrown;
  }
  return { id: container.id, client, detach };
}

async function within(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const late = delay(ms, undefined, { signal: AbortSignal.any([signal, done.signal]) }).then(() => {
    throw new Error(`the tool server did not say hello within ${ms} ms`);
  });
  late.catch(() => {});
  try {
    await Promise.race([promise, late]);
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    done.abort();
  }
}

/** In words; an error of its own where the kernel killed the tool server for want of memory. */
async function howItEnded(
  container: Docker.Container,
  spec: ContainerCreateOptions,
): Promise<string | PatchfleetError> {
  const done = new AbortController();
  const { signal } = done;
  const late = delay(exitLimitMs, undefined, { signal });
  await Promise.race([container.wait({ abortSignal: signal }), late]).catch(() => {});
  done.abort();
  try {
    const { State: state } = await container.inspect();
    if (endedForMemory(state)) {
      const limitBytes = spec.HostConfig?.Memory ?? null;
      return memoryExhausted('the sandbox ran out of memory', { limitBytes, peakBytes: limitBytes });
    }
    return state.Running
      ? 'the container still runs'
      : `the container ended with exit code ${state.ExitCode}`;
  } catch (thrown) {
    if (engineStatus(thrown) === 404) return 'the container was removed';
    throw thrown;
  }
}
