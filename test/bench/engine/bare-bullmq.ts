/**
 * BullMQ by itself: `bare-bullmq.ts` with the environment of the command line. So many jobs with the options that the
 * engine gives its own, added and worked on by one process; prints jobs a second as one line of JSON.
 */
import {
  createPostgresBackend,
  type JobsOptions,
  type PgPool,
  Queue,
  type QueueOptions,
  runMigrations,
  Worker,
} from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { databaseUrl } from '../../support/app/data-directory.ts';

const jobs = 1000;
const places = 32;
const name = 'bare';

/** As src/scheduling/queue.ts gives them. */
const optionsOf = (id: string): JobsOptions => ({
  priority: 20,
  attempts: 8,
  backoff: { type: 'exponential', delay: 1000, jitter: 0.5 },
  removeOnComplete: true,
  removeOnFail: { count: 1000 },
  deduplication: { id, keepLastIfActive: true, reschedule: true },
});

const { REDIS_URL, PATCHFLEET_DATA = '' } = process.env;
const backend = REDIS_URL === undefined ? await onPostgres() : onRedis(REDIS_URL);
try {
  await run(); // warm
  process.stdout.write(`${JSON.stringify({ perSecond: (jobs * 1000) / (await run()) })}\n`);
} finally {
  await backend.worker.close();
  await backend.queue.close();
  await backend.close();
}

async function run(): Promise<number> {
  let left = jobs;
  const over = new Promise<void>((resolve) => {
    backend.onDone(() => {
      left -= 1;
      if (left === 0) resolve();
    });
  });
  const began = performance.now();
  let next = 0;
  const add = async () => {
    while (next < jobs) {
      const id = `${began}-${next}`;
      next += 1;
      await backend.queue.add(name, { id }, optionsOf(id));
    }
  };
  await Promise.all([...Array.from({ length: places }, add), over]);
  return performance.now() - began;
}

async function onPostgres() {
  // BullMQ looks for the tables of its Postgres backend there and nowhere else; the queue has a name of its own.
  const schema = 'bullmq';
  const connectionString = await databaseUrl(PATCHFLEET_DATA);
  const pool = new pg.Pool({ connectionString, max: 12, options: `-c search_path=${schema}` });
  pool.setMaxListeners(0);
  const connection = pool as unknown as PgPool;
  await runMigrations(connection, schema);
  return open({ connection } as unknown as QueueOptions, createPostgresBackend, () => pool.end());
}

function onRedis(url: string) {
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  return open({ connection, prefix: name }, undefined, async () => void (await connection.quit()));
}

function open(
  options: QueueOptions,
  factory: typeof createPostgresBackend | undefined,
  close: () => Promise<void>,
) {
  let done = () => {};
  const queue = new Queue(name, options, factory as never);
  const worker = new Worker(name, async () => {}, { ...options, concurrency: places }, factory as never);
  worker.on('completed', () => done());
  return {
    queue,
    worker,
    close,
    onDone: (listener: () => void) => {
      done = listener;
    },
  };
}
