import { type MemoryState, memoryFiles, memoryState } from '../../../sandbox/cgroup-memory.ts';
import { PatchfleetError } from '../../domain/failure.ts';
import { type Engine, openStream } from './docker-host.ts';
import { readDockerStream } from './docker-stream.ts';

/** What the engine, and by it the kernel, says of a container's memory: nothing that runs inside is asked. */

const mib = 1024 * 1024;

/** Bytes that are read of what the kernel says. */
const longestAnswer = 64 * 1024;

/**
 * The kernel's account of a running container, read by a program of the image that the engine starts. The state that
 * the engine keeps of a container tells of a kill only once the container has ended. Null: it cannot be read.
 */
export async function readMemoryState(
  engine: Engine,
  containerId: string,
  signal: AbortSignal,
): Promise<MemoryState | null> {
  const files = [...Object.values(memoryFiles.v1), ...Object.values(memoryFiles.v2)];
  try {
    const { id } = await engine.requests.getContainer(containerId).exec({
      // Each line with the name of its file; silent about those that are not there.
      Cmd: ['grep', '-sH', '', ...files],
      WorkingDir: '/',
      AttachStdout: true,
      AttachStderr: true,
    });
    const stream = await openStream(signal, (abortSignal) =>
      engine.streams.getExec(id).start({ hijack: true, stdin: false, abortSignal }),
    );
    let text = '';
    try {
      for await (const part of readDockerStream(stream as AsyncIterable<Buffer>)) {
        if (part.stream === 'stdout') text += part.data.toString('latin1');
        if (text.length > longestAnswer) return null;
      }
    } finally {
      stream.destroy();
    }
    return parseMemoryState(text);
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Of lines `FILE:LINE`. */
export function parseMemoryState(text: string): MemoryState {
  const lines = text.split('\n').flatMap((line) => {
    const at = line.indexOf(':');
    return at === -1 ? [] : [{ file: line.slice(0, at), line: line.slice(at + 1) }];
  });
  const files = Map.groupBy(lines, ({ file }) => file);
  return memoryState((file) => {
    const own = files.get(file);
    return own === undefined ? null : own.map(({ line }) => line).join('\n');
  });
}

/** What `kill -9` gives as an exit code. */
const killed = 137;

/**
 * Whether a container that has ended did so for want of memory. The engine remembers any kill in it: a tool server
 * that ended otherwise later was not the one.
 */
export function endedForMemory(state: {
  readonly OOMKilled: boolean;
  readonly Running: boolean;
  readonly ExitCode: number;
}): boolean {
  return state.OOMKilled && !state.Running && state.ExitCode === killed;
}

/** `what` ran out of memory; `limitBytes` and `peakBytes` of the container, null where they are not known. */
export function memoryExhausted(
  what: string,
  { limitBytes, peakBytes }: { readonly limitBytes: number | null; readonly peakBytes: number | null },
): PatchfleetError {
  const limit = limitBytes === null ? [] : [`the limit is ${inMib(limitBytes)} MiB`];
  const peak = peakBytes === null ? [] : [`at most ${inMib(peakBytes)} MiB were in use`];
  const figures = [...limit, ...peak].join(', ');
  return new PatchfleetError('memory_exhausted', figures === '' ? what : `${what} (${figures})`);
}

function inMib(bytes: number): number {
  return Math.round(bytes / mib);
}
