import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { webhookPath } from '../../support/app/world.ts';
import { startPostgres, type TestPostgres } from '../../support/database.ts';
import { createGitHubDouble, type GitHubDouble } from '../../support/github/create-github-double.ts';
import { createModelDouble, type ModelDouble } from '../../support/model/create-model-double.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { type SecondEngine, startSecondEngine } from '../../support/second-engine.ts';
import { type Relay, startRelay } from './deliveries.ts';
import type { StormForm } from './form.ts';
import type { Random } from './random.ts';
import { type Supervisor, superviseApps } from './supervisor.ts';
import { filesOf, type StormTask, scriptOf, stormRepositories } from './tasks.ts';

/** Everything that a storm goes over: real servers, doubles of GitHub and the model, supervised processes. */
export interface StormWorld {
  readonly github: GitHubDouble;
  readonly model: ModelDouble;
  readonly redis: TestRedis;
  readonly postgres: TestPostgres;
  /** Null: the machine's engine is used, and never restarted. */
  readonly engine: SecondEngine | null;
  readonly relay: Relay;
  readonly apps: Supervisor;
  /** One for all processes: fixes want that. */
  readonly dataDir: string;
  /** Stops what still runs and removes everything. */
  close(): Promise<void>;
}

const image = process.env['PATCHFLEET_TEST_IMAGE'] ?? 'patchfleet-sandbox:latest';
/** GitHub's own time for a write, milliseconds: a kill may fall between its effect and its answer. */
const writeMs = [20, 250] as const;

/** Leases are short, so that what a kill leaves is taken up while the storm lasts. */
export const leaseMs = 6000;
const operatorConfig = {
  limits: {
    parallel: 4,
    task_parallel: 8,
    // Each file of a review is a row.
    shard_files: 1,
    // Luck may have it that a row is in the killed worker again and again: that alone must not end it.
    deaths: 10,
  },
  timing: { heartbeat_ms: 1000, lease_ms: leaseMs, reconcile_ms: 1000, check_update_ms: 1000 },
  sandbox: { image, memory_mib: 256, scratch_mib: 64, concurrent_starts: 2 },
};

export async function openStorm(
  form: StormForm,
  tasks: readonly StormTask[],
  options: { readonly random: Random; readonly logsDir: string | null; readonly signal: AbortSignal },
): Promise<StormWorld> {
  const { random, signal } = options;
  await using opened = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'storm-'));
  opened.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  await chmod(dir, 0o755);
  const dataDir = join(dir, 'data');
  const logsDir = options.logsDir ?? join(dir, 'logs');
  for (const path of [dataDir, logsDir]) await mkdir(path, { recursive: true, mode: 0o755 });
  opened.defer(() => removeTree(dataDir));
  const configPath = join(dir, 'patchfleet.yml');
  await writeFile(configPath, stringify(operatorConfig));

  const engine = form.dockerRestarts > 0 ? await startSecondEngine() : null;
  if (engine !== null) {
    opened.defer(engine.end);
    await engine.loadImage(image);
  }
  signal.throwIfAborted();
  const postgres = opened.use(await startPostgres());
  const redis = opened.use(await startRedis());
  const github = await createGitHubDouble({ dir: join(dir, 'github'), echo: true });
  opened.defer(github.close);
  const model = await createModelDouble({ behaviour: scriptOf(tasks, form.modelMs) });
  opened.defer(model.close);
  const writes = random.fork('writes');
  github.faults.onWrite(() => delay(writes.between(...writeMs)));

  const targets: { of: () => string[] } = { of: () => [] };
  const relay = await startRelay({ targets: () => targets.of(), random: random.fork('deliveries') });
  opened.defer(relay.close);
  await github.setWebhookUrl(`${relay.url}${webhookPath}`);
  for (const fullName of stormRepositories) {
    await github.createRepository({ fullName, files: filesOf(fullName, tasks) });
    await github.setPermission(fullName, 'wilma', 'write');
  }

  const apps = superviseApps({
    counts: { serve: form.serve, work: form.work },
    logsDir,
    random: random.fork('supervisor'),
    env: (modelKey) => ({
      PATCHFLEET_CONFIG: configPath,
      PATCHFLEET_DATA: dataDir,
      APP_ID: String(github.app.id),
      PRIVATE_KEY: github.app.privateKey,
      WEBHOOK_SECRET: github.app.webhookSecret,
      GITHUB_API_URL: github.apiUrl,
      GITHUB_SERVER_URL: github.serverUrl,
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_API_KEY: modelKey,
      MODEL: model.model,
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      ...(engine === null ? {} : { DOCKER_HOST: engine.host }),
    }),
  });
  targets.of = apps.urls;
  const parts = opened.move();
  const close = async () => {
    await apps.stop();
    await parts.disposeAsync();
  };
  return { github, model, redis, postgres, engine, relay, apps, dataDir, close };
}
