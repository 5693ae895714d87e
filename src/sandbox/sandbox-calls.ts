import { posix } from 'node:path';
import { defaultMaxBuffer, greatestMaxBuffer, lookupLimitMs } from '../../sandbox/protocol.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { workspaceInContainer } from './container/container-spec.ts';
import type { EngineRun } from './container/run-by-engine.ts';
import type { StartedContainer } from './container/start-container.ts';
import { mostEntries, mostMatches } from './container/tool-responses.ts';
import type { HarvestEntry, RunResult, Sandbox } from './port.ts';

/** Beyond the limit that the tool server keeps itself, how long its answer may take, ms. */
const answerSlackMs = 15_000;
const lookupDeadlineMs = lookupLimitMs + answerSlackMs;
/** Some 23 days: timers take little more, and fire at once beyond it. */
const greatestWallMs = 2_000_000_000;

/** What its user can do with a sandbox whose container runs. It is over after `limitMs`. */
export function sandboxCalls(
  container: StartedContainer,
  limitMs: number,
  ends: {
    readonly harvest: (signal: AbortSignal) => Promise<HarvestEntry[]>;
    readonly keep: (dir: string, signal: AbortSignal) => Promise<void>;
    readonly byEngine: (run: EngineRun) => Promise<RunResult>;
    readonly cpuMs: () => Promise<number | null>;
    /** Calls back when it wrote too much; gives what ends the watching. */
    readonly watchDisk: (onReached: (error: PatchfleetError) => void) => () => void;
    readonly discard: () => Promise<void>;
  },
): Sandbox {
  const { client } = container;
  let closing: Promise<void> | null = null;
  const wallMs = Math.min(limitMs, greatestWallMs);
  const wall = setTimeout(() => {
    client.end(new PatchfleetError('wall_limit', `the sandbox reached its limit of ${wallMs} ms`));
    container.detach();
  }, wallMs);
  wall.unref();
  let exhausted: PatchfleetError | null = null;
  const stopWatching = ends.watchDisk((error) => {
    exhausted = error;
    client.end(error);
    container.detach();
  });

  return {
    containerId: container.id,
    workspace: workspaceInContainer,
    list: (path, { limit = 1000, signal }) =>
      client.call({ op: 'list', path, limit: Math.min(limit, mostEntries) }, signal, lookupDeadlineMs),
    read: (path, { start = 1, end, signal }) =>
      client.call(
        { op: 'read', path, start: Math.max(1, start), end: end ?? null },
        signal,
        lookupDeadlineMs,
      ),
    search: (pattern, { path = '', limit = 200, signal }) =>
      client.call(
        { op: 'search', pattern, path, limit: Math.min(limit, mostMatches) },
        signal,
        lookupDeadlineMs,
      ),
    run(argv, { cwd = '', env = {}, maxBuffer = defaultMaxBuffer, stdin = '', signal, ...limits }) {
      // No run outlives its sandbox.
      const runMs = Math.min(limits.wallMs, wallMs);
      const idleMs = limits.idleMs === undefined ? null : Math.min(limits.idleMs, runMs);
      const kept = Math.min(maxBuffer, greatestMaxBuffer);
      const request = { op: 'run', argv, cwd, env, wallMs: runMs, idleMs, maxBuffer: kept, stdin } as const;
      return client.call(request, signal, runMs + answerSlackMs);
    },
    async runByEngine(argv, { cwd = '', env = {}, maxBuffer = defaultMaxBuffer, ...rest }) {
      try {
        return await ends.byEngine({
          ...rest,
          argv,
          cwd: posix.join(workspaceInContainer, cwd),
          env,
          maxBuffer: Math.min(maxBuffer, greatestMaxBuffer),
        });
      } catch (thrown) {
        rest.signal.throwIfAborted();
        throw exhausted ?? thrown;
      }
    },
    cpuMs: ends.cpuMs,
    async write(path, content, { executable = null, signal }) {
      await client.call({ op: 'write', path, content, executable }, signal, lookupDeadlineMs);
    },
    edit: (path, old, replacement, { signal }) =>
      client.call({ op: 'edit', path, old, replacement }, signal, lookupDeadlineMs),
    async remove(path, { signal }) {
      await client.call({ op: 'remove', path }, signal, lookupDeadlineMs);
    },
    async harvest(signal) {
      stopWatching();
      if (exhausted !== null) throw exhausted;
      client.end(new PatchfleetError('sandbox_died', 'the sandbox was stopped for its patch to be read'));
      return await ends.harvest(signal);
    },
    async keep(dir, signal) {
      stopWatching();
      if (exhausted !== null) throw exhausted;
      client.end(new PatchfleetError('sandbox_died', 'the sandbox was stopped for its workspace to be kept'));
      await ends.keep(dir, signal);
    },
    close() {
      closing ??= (async () => {
        clearTimeout(wall);
        client.end(new PatchfleetError('sandbox_died', 'the sandbox was closed'));
        container.detach();
        await ends.discard();
        // Not before what it wrote is gone: another may be waiting for the room.
        stopWatching();
      })();
      return closing;
    },
  };
}
