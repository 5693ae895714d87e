import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { pino } from 'pino';
import { type Server, startServer } from '../../../src/api/server.ts';
import { operatorConfigSchema } from '../../../src/config/operator-config.ts';
import { createGitHubApp } from '../../../src/github/app.ts';
import { createAdmission } from '../../../src/intake/admit.ts';
import { createReceiver } from '../../../src/intake/receive.ts';
import type { Publisher } from '../../../src/publishing/port.ts';
import type { Queue } from '../../../src/scheduling/port.ts';
import type { Delivery, Store } from '../../../src/store/port.ts';
import { createStore } from '../../../src/store/store.ts';
import { openTestDatabase } from '../../support/database.ts';
import { createGitHubDouble } from '../../support/github/create-github-double.ts';

export type IntakeWorld = Awaited<ReturnType<typeof openIntakeWorld>>;

export interface Reply {
  readonly issue: number;
  readonly commentId: number;
  readonly body: string;
}

/**
 * Intake as it is composed, over a real database and the GitHub double. What lies behind its ports is
 * recorded: the queue's requests, and what publishing is asked to say.
 */
export async function openIntakeWorld() {
  const database = await openTestDatabase();
  const github = await createGitHubDouble();
  const log = pino({ level: 'silent' });
  const app = createGitHubApp({
    appId: github.app.id,
    privateKey: github.app.privateKey,
    webhookSecret: github.app.webhookSecret,
    apiUrl: github.apiUrl,
    log,
    secondMs: 5,
  });
  const asked: string[] = [];
  const replies: Reply[] = [];
  const reactions: string[] = [];
  const published: string[] = [];
  const reports: unknown[] = [];
  const queue: Queue = {
    enqueue: async (kind, id, options) =>
      void asked.push(`${kind} ${id}${options?.delayMs === undefined ? '' : ` in ${options.delayMs} ms`}`),
    enqueueRun: async (id) => void asked.push(`run ${id}`),
  };
  const store: Store = createStore(database, { taskTokens: 1_000_000, onError: () => {} });
  const publisher: Publisher = {
    publish: async (id) => void published.push(id),
    react: async (_repository: unknown, commentId: number, content: string) =>
      void reactions.push(`${content} ${commentId}`),
    reply: async (_repository: unknown, issue: number, commentId: number, body: string) =>
      void replies.push({ issue, commentId, body }),
    reportCi: async (taskId, { pull, headSha, failing }) =>
      void reports.push({ taskId, pull, headSha, failing }),
  };
  const operatorConfig = operatorConfigSchema.parse({
    agents: [
      { name: 'lint', kind: 'command', command: ['lint'], format: 'lines' },
      { name: 'writer', kind: 'model' },
    ],
  });
  const clock: { at: number | null } = { at: null };
  const admission = createAdmission({
    store,
    queue,
    github: app.github,
    publisher,
    operatorConfig,
    log,
    now: () => clock.at ?? Date.now(),
  });
  const errors: Error[] = [];
  const receive = createReceiver({ store, queue, verify: app.verify, log });
  const serve = (): Promise<Server> =>
    startServer({
      receive,
      isAlive: () => true,
      whenReady: () => database.pool.query('select 1'),
      readyTimeoutMs: 60_000,
      host: '127.0.0.1',
      port: 0,
      onError: (error) => errors.push(error),
    });
  const server = await serve();
  await github.setWebhookUrl(`${server.url}/api/github/webhooks`);

  return {
    database,
    store,
    github,
    app,
    server,
    serve,
    admission,
    /** Where admission's clock stands still, milliseconds since the epoch; null: it goes as all others do. */
    clock,
    asked,
    replies,
    reactions,
    published,
    reports,
    errors,
    hookUrl: `${server.url}/api/github/webhooks`,
    /** A repository of its own with one file; `mona` may write, `tri` may triage, `guest` may read. */
    async repository(files: Record<string, string> = {}) {
      const fullName = `octo/r${randomBytes(4).toString('hex')}`;
      const made = await github.createRepository({ fullName, files: { 'a.js': 'one\n', ...files } });
      await github.setPermission(fullName, 'mona', 'write');
      await github.setPermission(fullName, 'tri', 'triage');
      await github.setPermission(fullName, 'guest', 'read');
      return made;
    },
    /** Admits the delivery again, as if its first admission had been cut off. */
    async readmit(id: string): Promise<Delivery> {
      await database.pool.query(`update deliveries set status = 'received' where id = $1`, [id]);
      return await this.admit(id);
    },
    /** Admits the delivery and returns its row as it is afterwards. */
    async admit(id: string): Promise<Delivery> {
      await admission.admit(id, new AbortController().signal);
      const row = await store.deliveries.get(id);
      if (row === null) throw new Error(`no delivery ${id}`);
      return row;
    },
    async close() {
      await server.close();
      await github.close();
      // Closing the store closes its database, which may have been closed by a test.
      await store.close().catch(() => {});
      await rm(database.dataDir, { recursive: true, force: true });
    },
  };
}
