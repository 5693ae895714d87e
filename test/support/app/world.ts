import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Files } from '../github/commits.ts';
import { createGitHubDouble, type GitHubDouble } from '../github/create-github-double.ts';
import type { BehaviourInput } from '../model/behaviour.ts';
import { createModelDouble, type ModelDouble } from '../model/create-model-double.ts';
import { databaseUrl, removeDataDirectory } from './data-directory.ts';
import { runPatchfleet } from './run-patchfleet.ts';
import { type App, type Role, startApp } from './start-app.ts';

export interface WorldOptions {
  /** Files of the repository's first commit. */
  readonly files: Files;
  /** The operator file; merged over {@link quickConfig}, section by section. */
  readonly operator?: OperatorSections;
  readonly model?: BehaviourInput;
  /** Environment variables beside those of GitHub and the model. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: one app in the role `all`. `[]`: start them yourself. */
  readonly roles?: readonly Role[];
  /** Apps share one database by `DATABASE_URL` instead of each using the embedded one. Default false. */
  readonly sharedDatabase?: boolean;
  /** Send events about the app's own writes, as GitHub does. Default true. */
  readonly echo?: boolean;
}

interface OperatorSections {
  readonly [section: string]: unknown;
  readonly limits?: object;
  readonly timing?: object;
  readonly sandbox?: object;
}

/** Patchfleet as its own processes between a GitHub and a model that are doubles. */
export interface World extends AsyncDisposable {
  readonly github: GitHubDouble;
  readonly model: ModelDouble;
  /** `owner/name`. */
  readonly repository: string;
  /** Of the first app; the others have directories beside it. */
  readonly dataDir: string;
  /** Directory whose embedded Postgres holds the rows: for `queryRows`. */
  readonly databaseDir: string;
  readonly apps: readonly App[];
  readonly modelKey: string;
  /** Starts one more process; webhooks go to the last one that listens. `dataDir`: one of an app that ended. */
  start(role: Role, options?: { dataDir?: string; env?: Readonly<Record<string, string>> }): Promise<App>;
  /** Runs another command of the command line beside the processes, over the first one's directory. */
  run(...args: string[]): ReturnType<typeof runPatchfleet>;
  /** Stops everything and removes all that was made. Fails for an app that did not stop as it should. */
  close(): Promise<void>;
}

/** Short intervals, so that a test does not wait for what an operator would hardly notice. */
const quickConfig = {
  limits: { parallel: 4 },
  timing: { heartbeat_ms: 500, lease_ms: 5000, reconcile_ms: 500, check_update_ms: 250 },
  sandbox: {
    // Another one may be tried before it takes the name.
    image: process.env['PATCHFLEET_TEST_IMAGE'] ?? 'patchfleet-sandbox:latest',
    memory_mib: 256,
    scratch_mib: 64,
    concurrent_starts: 2,
  },
};

const modelKey = 'sk-canary-model-key-0123456789abcdef';
export const repositoryName = 'tea/shop';
export const webhookPath = '/api/github/webhooks';

export async function startWorld(options: WorldOptions): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), 'world-'));
  await chmod(dir, 0o755);
  const github = await createGitHubDouble({ dir: join(dir, 'github'), echo: options.echo ?? true });
  const model = await createModelDouble({ behaviour: options.model ?? {} });
  const apps: App[] = [];
  const databaseDir = join(dir, options.sharedDatabase ? 'database' : 'data');
  const dataDirs = new Set<string>([join(dir, 'data'), databaseDir]);

  const environment = async () => ({
    APP_ID: String(github.app.id),
    PRIVATE_KEY: github.app.privateKey,
    WEBHOOK_SECRET: github.app.webhookSecret,
    GITHUB_API_URL: github.apiUrl,
    GITHUB_SERVER_URL: github.serverUrl,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: modelKey,
    MODEL: model.model,
    ...(options.sharedDatabase ? { DATABASE_URL: await databaseUrl(databaseDir) } : {}),
    ...options.env,
  });

  const world: World = {
    github,
    model,
    repository: repositoryName,
    dataDir: join(dir, 'data'),
    databaseDir,
    apps,
    modelKey,
    async start(role, more = {}) {
      const dataDir = more.dataDir ?? (apps.length === 0 ? world.dataDir : join(dir, `data${apps.length}`));
      dataDirs.add(dataDir);
      const app = await startApp({
        role,
        dataDir,
        operatorConfig: mergeSections(quickConfig, options.operator ?? {}),
        env: { ...(await environment()), ...more.env },
      });
      apps.push(app);
      if (app.url !== '') await github.setWebhookUrl(`${app.url}${webhookPath}`);
      return app;
    },
    run: async (...args) => runPatchfleet(args, world.dataDir, await environment()),
    async close() {
      const stopped = await Promise.allSettled(apps.map((app) => app.stop()));
      for (const dataDir of dataDirs) await removeDataDirectory(dataDir);
      await model.close();
      await github.close();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
      for (const result of stopped) if (result.status === 'rejected') throw result.reason;
    },
    [Symbol.asyncDispose]: () => world.close(),
  };
  try {
    await github.createRepository({ fullName: repositoryName, files: options.files });
    for (const role of options.roles ?? ['all']) await world.start(role);
  } catch (error) {
    await world.close().catch(() => {});
    throw error;
  }
  return world;
}

function mergeSections(base: OperatorSections, over: OperatorSections): OperatorSections {
  const merged: Record<string, unknown> = { ...base, ...over };
  for (const name of Object.keys(base))
    merged[name] = { ...(base[name] as object), ...(over[name] as object) };
  return merged;
}
