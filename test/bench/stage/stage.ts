import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { timingSchema } from '../../../src/config/operator-config.ts';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { databaseUrl, removeDataDirectory, sandboxesOf } from '../../support/app/data-directory.ts';
import { type App, type Role, startApp, tail } from '../../support/app/start-app.ts';
import { until } from '../../support/app/until.ts';
import type { Files } from '../../support/github/commits.ts';
import { type RemoteGitHubDouble, spawnGitHubDouble } from '../../support/github/spawn-github-double.ts';
import { startRedis } from '../../support/redis.ts';
import { type BenchModel, startModel } from './model.ts';

export interface StageOptions {
  readonly files: Files;
  /** Containers, or sandboxes that cost nothing; see no-op-sandboxes.ts. */
  readonly sandbox: 'none' | 'docker';
  readonly roles: readonly Role[];
  /** Over the operator's defaults. */
  readonly limits: object;
  readonly agents?: readonly object[];
  readonly signal: AbortSignal;
}

/**
 * Patchfleet in production's form: processes of each role over a Postgres and a Redis of their own, between a GitHub
 * and a model that are processes too, so that none of them takes time from another's event loop.
 */
export interface Stage extends AsyncDisposable {
  readonly github: RemoteGitHubDouble;
  readonly model: BenchModel;
  readonly repository: string;
  readonly apps: readonly App[];
  readonly database: pg.Client;
  /** Asks until there is an answer; fails at once when an app ended by itself. */
  until<T>(
    what: string,
    ask: () => Promise<T>,
    limitMs: number,
  ): Promise<Exclude<T, null | undefined | false>>;
  /** What is not as it should be at the end, in words. Stops the apps. */
  problems(): Promise<string[]>;
}

const repository = 'tea/shop';
const noOpProgram = fileURLToPath(new URL('./no-op-program.ts', import.meta.url));

export async function openStage(options: StageOptions): Promise<Stage> {
  const { signal } = options;
  await using opened = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'bench-'));
  await chmod(dir, 0o755);
  opened.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const github = await spawnGitHubDouble(['--dir', join(dir, 'github')]);
  opened.defer(() => github.close());
  const model = await startModel();
  opened.defer(() => model.close());
  const redis = opened.use(await startRedis());
  const databaseDir = join(dir, 'database');
  const url = await databaseUrl(databaseDir);
  opened.defer(() => removeDataDirectory(databaseDir));
  const database = new pg.Client({ connectionString: url, application_name: 'onlooker' });
  await database.connect();
  opened.defer(() => database.end());
  await github.createRepository({ fullName: repository, files: options.files });

  const apps: App[] = [];
  // One for all: who merges and who publishes read what the workers left in mirror and artifacts.
  const dataDir = join(dir, 'data');
  opened.defer(() => removeDataDirectory(dataDir));
  for (const role of options.roles) {
    signal.throwIfAborted();
    const app = await startApp({
      role,
      dataDir,
      operatorConfig: operatorConfig(options, model),
      ...(options.sandbox === 'none' ? { program: noOpProgram } : {}),
      env: {
        APP_ID: String(github.app.id),
        PRIVATE_KEY: github.app.privateKey,
        WEBHOOK_SECRET: github.app.webhookSecret,
        GITHUB_API_URL: github.apiUrl,
        GITHUB_SERVER_URL: github.serverUrl,
        OPENAI_API_KEY: 'sk-bench',
        DATABASE_URL: url,
        REDIS_URL: redis.url,
        ...profiling(),
      },
    });
    opened.defer(async () => void (await app.stop()));
    apps.push(app);
    if (app.url !== '') await github.setWebhookUrl(`${app.url}/api/github/webhooks`);
  }
  const parts = opened.move();

  const describe = () =>
    apps.map((app) => `--- log of ${app.role} (${app.pid})\n${tail(app.logs(), 15)}`).join('\n');
  return {
    github,
    model,
    repository,
    apps,
    database,
    until: (what, ask, limitMs) =>
      until(
        what,
        async () => {
          if (apps.some((app) => app.exitCode() !== null))
            throw new Error(`Patchfleet ended by itself\n${describe()}`);
          return ask();
        },
        { limitMs, everyMs: 200, signal, describe },
      ),
    problems: async () => {
      await github.settle();
      await Promise.all(apps.map((app) => app.stop()));
      const left = (await sandboxesOf(dataDir)).length;
      const { unexpected, violations } = await github.problems();
      return [
        ...(left > 0 ? [`${left} containers were left`] : []),
        ...unexpected.map((request) => `GitHub has no such route: ${request}`),
        ...violations.map((problem) => `against GitHub's description: ${problem}`),
      ];
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function operatorConfig({ limits, agents }: StageOptions, model: BenchModel): object {
  const { image: _, ...sandbox } = sandboxConfigSchema.parse({});
  return {
    limits,
    ...(agents === undefined ? {} : { agents }),
    timing: timingSchema.parse({}),
    sandbox: { ...sandbox, image: process.env['PATCHFLEET_TEST_IMAGE'] ?? 'patchfleet-sandbox:latest' },
    channels: [{ name: 'default', base_url: model.baseUrl, model: 'bench', concurrent: 1000 }],
  };
}

/** `PATCHFLEET_BENCH_NODE_OPTIONS`: for Node in each process, such as `--cpu-prof --cpu-prof-dir=DIR`. */
function profiling(): Record<string, string> {
  const options = process.env['PATCHFLEET_BENCH_NODE_OPTIONS'];
  return options === undefined ? {} : { NODE_OPTIONS: options };
}
