import { createHash } from 'node:crypto';
import {
  Queue as BullQueue,
  createPostgresBackend,
  type JobsOptions,
  type PgPool,
  runMigrations,
  Worker,
} from 'bullmq';
import { Redis } from 'ioredis';
import type { Logger } from '../telemetry/log.ts';
import type { JobKind, JobOptions, Queue } from './port.ts';

/** BullMQ on Redis, or on its Postgres backend over the database that holds the rows. */

export type QueueBackend =
  | { readonly kind: 'redis'; readonly url: string }
  /** `newPool`: a pool of the database that holds the rows, with that schema on its search path. */
  | { readonly kind: 'postgres'; readonly newPool: (searchPath: string) => QueuePool };

/** A pool of the `pg` driver, as far as it is used here; BullMQ knows the rest. */
export interface QueuePool {
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  setMaxListeners(n: number): unknown;
}

export interface QueueSettings {
  readonly backend: QueueBackend;
  /** Partitions of the run queue; the same on all replicas. */
  readonly queueShards: number;
  /** A job whose worker gave no sign of life for this long is taken by another, milliseconds. */
  readonly leaseMs: number;
  readonly log: Logger;
}

export type JobHandler = (id: string, signal: AbortSignal) => Promise<void>;

export interface JobQueue extends Queue {
  /** Takes jobs of that kind, `concurrency` at once in this process (for `run`: of each queue shard). */
  work(kind: JobKind, concurrency: number, handler: JobHandler): Promise<void>;
  /** Jobs that wait, by queue name. */
  depth(): Promise<Record<string, number>>;
  /** Stops taking jobs, aborts the signals of those that run, waits for their handlers, disconnects. */
  close(): Promise<void>;
}

const schema = 'bullmq';
/** In Redis, keys of this prefix; a Redis may be shared. */
const prefix = 'patchfleet';
const defaultPriority = 20;

/** Which queue shard a repository's attempts go to: stable, so that its mirror and snapshots stay warm. */
export function queueShardOf(repositoryId: number, queueShards: number): number {
  return createHash('sha256').update(String(repositoryId)).digest().readUInt32BE(0) % queueShards;
}

/** Failed jobs are tried again with growing pauses; what is given up here is found again by the reconciler. */
function jobOptions(id: string, options: JobOptions): JobsOptions {
  return {
    priority: options.priority ?? defaultPriority,
    attempts: 8,
    backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
    removeOnComplete: true,
    removeOnFail: { count: 1000 },
    // A wake-up that comes while the job runs makes it run once more: none is lost.
    deduplication: { id, keepLastIfActive: true, reschedule: true },
    ...(options.delayMs === undefined ? {} : { delay: Math.max(0, Math.round(options.delayMs)) }),
  };
}

interface Backend {
  queue(name: string): BullQueue;
  worker(
    name: string,
    concurrency: number,
    process: (id: string, signal: AbortSignal) => Promise<void>,
  ): Worker;
  close(): Promise<void>;
}

async function openBackend(settings: QueueSettings): Promise<Backend> {
  const { backend, leaseMs } = settings;
  const lease = {
    lockDuration: leaseMs,
    stalledInterval: Math.max(500, Math.floor(leaseMs / 2)),
    // A stall is a dead worker, not a failure of the job; rows bound how often work is tried.
    maxStalledCount: 1_000_000,
    drainDelay: 5,
  };
  const processor =
    (process: (id: string, signal: AbortSignal) => Promise<void>) =>
    (job: { data: unknown }, _token?: string, signal?: AbortSignal) =>
      process((job.data as { id: string }).id, signal ?? new AbortController().signal);
  if (backend.kind === 'postgres') {
    // A pool of its own: BullMQ's statements want its schema on the search path.
    const pool = backend.newPool(schema);
    pool.setMaxListeners(0); // every queue and worker listens for its errors
    pool.on('error', (error) => settings.log.warn({ err: error }, 'queue database connection'));
    const connection = pool as unknown as PgPool;
    try {
      await runMigrations(connection, schema);
    } catch (error) {
      await pool.end();
      throw error;
    }
    return {
      queue: (name) => new BullQueue(name, { connection }, createPostgresBackend) as unknown as BullQueue,
      worker: (name, concurrency, process) =>
        new Worker(
          name,
          processor(process),
          { connection, concurrency, ...lease },
          createPostgresBackend,
        ) as unknown as Worker,
      close: () => pool.end(),
    };
  }
  // Workers want `maxRetriesPerRequest: null`: a Redis that restarts must not end them.
  const connect = () => new Redis(backend.url, { maxRetriesPerRequest: null });
  const shared = connect();
  const warn = (error: Error) => settings.log.warn({ err: error }, 'redis connection');
  shared.on('error', warn);
  return {
    queue: (name) => new BullQueue(name, { connection: shared, prefix }),
    worker: (name, concurrency, process) =>
      new Worker(name, processor(process), { connection: shared, prefix, concurrency, ...lease }),
    close: async () => {
      await shared.quit().catch(() => shared.disconnect());
    },
  };
}

export async function createQueue(settings: QueueSettings): Promise<JobQueue> {
  const { queueShards, log } = settings;
  const backend = await openBackend(settings);
  const warn = (name: string) => (error: Error) => log.warn({ err: error, queue: name }, 'queue');
  const queues = new Map<string, BullQueue>();
  const workers: Worker[] = [];
  const closing = new AbortController();

  const queueOf = (name: string) => {
    let queue = queues.get(name);
    if (queue === undefined) {
      queue = backend.queue(name);
      queue.on('error', warn(name));
      queues.set(name, queue);
    }
    return queue;
  };
  const add = async (name: string, id: string, options: JobOptions) => {
    await queueOf(name).add(name, { id }, jobOptions(id, options));
  };
  const start = (name: string, concurrency: number, handler: JobHandler) => {
    const worker = backend.worker(name, concurrency, (id, signal) =>
      handler(id, AbortSignal.any([signal, closing.signal])),
    );
    worker.on('error', warn(name));
    worker.on('failed', (job, error) =>
      log.error(
        { err: error, queue: name, id: (job?.data as { id?: string } | undefined)?.id },
        'job failed',
      ),
    );
    workers.push(worker);
    return worker;
  };

  return {
    enqueue: (kind, id, options = {}) => add(kind, id, options),
    enqueueRun: (attemptId, repositoryId, options = {}) =>
      add(`run-${queueShardOf(repositoryId, queueShards)}`, attemptId, options),

    work: async (kind, concurrency, handler) => {
      const names =
        kind === 'run' ? Array.from({ length: queueShards }, (_, index) => `run-${index}`) : [kind];
      await Promise.all(names.map((name) => start(name, concurrency, handler).waitUntilReady()));
    },

    depth: async () => {
      const names = ['admit', 'plan', 'advance', 'publish'];
      for (let index = 0; index < queueShards; index += 1) names.push(`run-${index}`);
      const counts = await Promise.all(
        // Prioritised jobs are not in `wait`.
        names.map((name) => queueOf(name).getJobCountByTypes('wait', 'prioritized', 'active', 'delayed')),
      );
      return Object.fromEntries(names.map((name, index) => [name, counts[index] ?? 0]));
    },

    close: async () => {
      closing.abort(new Error('shutting down'));
      await Promise.all(workers.map((worker) => worker.close()));
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await backend.close();
    },
  };
}
