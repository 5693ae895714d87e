import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createQueue } from '../../src/scheduling/queue.ts';
import { startEmbeddedPostgres } from '../../src/store/embedded-postgres.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows } from '../support/app/data-directory.ts';
import { faultyChange, smallRepository } from '../support/app/small-repository.ts';
import { until } from '../support/app/until.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World, webhookPath } from '../support/app/world.ts';
import { startRedis } from '../support/redis.ts';

/** Everything that GitHub shows of a pull request, counted. */
async function countAll(world: World, pull: number) {
  const [tasks] = await queryRows<{ n: number }>(world.databaseDir, 'select count(*)::int as n from tasks');
  return {
    tasks: tasks?.n,
    checkRuns: (await world.github.checkRuns(world.repository)).length,
    reviews: (await world.github.reviews(world.repository, pull)).length,
  };
}

describe('one event, delivered again and again to several replicas', () => {
  it.each(['postgres', 'redis'] as const)(
    'makes one task, one check run, one review (%s)',
    async (backend) => {
      await using redis = backend === 'redis' ? await startRedis() : null;
      const env = redis === null ? {} : { REDIS_URL: redis.url };
      await using world = await startWorld({ files: smallRepository, sharedDatabase: true, roles: [], env });
      const { github, repository } = world;
      const pull = await github.openPullRequest(repository, { branch: 'change', files: faultyChange });
      const payload = await pullRequestEvent(world);
      const serving = [await world.start('serve'), await world.start('serve')];
      await world.start('work');

      const twice = [randomUUID(), randomUUID()];
      const deliver = (id: string, replica: number) =>
        github.deliver('pull_request', payload, { id, url: `${serving[replica % 2]?.url}${webhookPath}` });
      const answers = await Promise.all([
        ...Array.from({ length: 5 }, (_, index) => deliver(twice[0] ?? '', index)),
        deliver(twice[1] ?? '', 1),
      ]);
      expect(answers.map(({ status }) => Math.floor((status ?? 0) / 100))).toEqual(answers.map(() => 2));

      expect((await untilDone(world, pull.headSha)).conclusion).toBe('failure');
      await untilIdle(world);
      expect(await countAll(world, pull.number)).toEqual({ tasks: 1, checkRuns: 1, reviews: 1 });
      await assertStrict(world);
    },
  );
});

/** The payload as GitHub would send it: asked of the double while nobody listens. */
async function pullRequestEvent(world: World): Promise<unknown> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(202).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await world.github.setWebhookUrl(`http://127.0.0.1:${port}`);
  await world.github.updatePullRequest(world.repository, 1, {}, 'opened');
  await world.github.setWebhookUrl(null);
  server.close();
  return JSON.parse(bodies[0] ?? 'null');
}

describe('publishing a finished task again', () => {
  it('sends no write to GitHub: not after a crash, nor for a redelivery, nor when asked to', async () => {
    await using world = await startWorld({ files: smallRepository });
    const { github, repository, dataDir } = world;
    const pull = await github.openPullRequest(repository, { branch: 'change', files: faultyChange });
    await untilDone(world, pull.headSha);
    await untilIdle(world);
    const writes = github.writes().length;

    await world.apps[0]?.kill();
    const app = await world.start('all', { dataDir });
    await github.redeliver(pull.delivery?.id ?? '');
    await github.updatePullRequest(repository, pull.number, {}, 'reopened');
    await untilIdle(world);

    const [task] = await queryRows<{ id: string }>(dataDir, 'select id from tasks');
    const { connection } = await startEmbeddedPostgres(dataDir);
    const queue = await createQueue({
      backend: {
        kind: 'postgres',
        newPool: (searchPath) =>
          new pg.Pool({ ...connection, options: `-c search_path=${searchPath}`, max: 4 }),
      },
      queueShards: 4,
      leaseMs: 5000,
      log: pino({ level: 'silent' }),
    });
    await queue.enqueue('publish', task?.id ?? '');
    await until('the publish job is taken', async () => (await queue.depth())['publish'] === 0);
    await queue.close();
    // A graceful stop waits for the job that runs.
    expect(await app.stop()).toBe(0);

    expect(github.writes().length).toBe(writes);
    await assertStrict(world);
  });
});
