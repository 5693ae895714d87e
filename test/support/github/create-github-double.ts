import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appRoutes, type TokenOptions } from './auth.ts';
import { branchRoutes } from './branches.ts';
import { checkSuiteRoutes } from './check-suites.ts';
import { checkRoutes } from './checks.ts';
import { commentRoutes } from './comments.ts';
import { repositoryRoutes } from './contents.ts';
import { serveControl } from './control-api.ts';
import { type Controls, createControls } from './controls.ts';
import { echoWrite } from './echo.ts';
import { createFaults, type Faults } from './faults.ts';
import { blobRoutes } from './git-blobs.ts';
import { gitCommitRoutes } from './git-commits.ts';
import { isGitRequest, serveGit } from './git-http.ts';
import { refRoutes } from './git-refs.ts';
import { treeRoutes } from './git-trees.ts';
import { issueRoutes } from './issues.ts';
import { type JournalEntry, openJournal } from './journal.ts';
import { labelRoutes } from './labels.ts';
import { openDescription } from './openapi.ts';
import { pullWriteRoutes } from './pull-writes.ts';
import { pullRoutes } from './pulls.ts';
import { reviewRoutes } from './reviews.ts';
import { metaRoutes, serveApi } from './server.ts';
import type { App, Permissions, State, User } from './state.ts';
import { createWebhooks, type Webhooks } from './webhooks.ts';

export interface GitHubDoubleOptions {
  /** Where the repositories live; default a new temporary directory, removed by `close`. */
  readonly dir?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  readonly app?: { id?: number; slug?: string; privateKey?: string; webhookSecret?: string };
  /** What an account grants when the app is installed on it. */
  readonly permissions?: Permissions;
  readonly webhookUrl?: string;
  /** Send events about the app's own writes, as GitHub does. Default false. */
  readonly echo?: boolean;
  readonly token?: Partial<TokenOptions>;
}

export interface GitHubDouble extends Controls {
  /** The double's origin; REST paths and clone paths both hang directly below it. */
  readonly url: string;
  readonly apiUrl: string;
  readonly serverUrl: string;
  readonly dir: string;
  readonly app: { id: number; slug: string; clientId: string; privateKey: string; webhookSecret: string };
  readonly faults: Faults;
  readonly webhooks: Webhooks;
  readonly journal: readonly JournalEntry[];
  /** The writes that took effect, in order. */
  writes(): JournalEntry[];
  /** Requests to routes the double does not have. A test asserts that it is empty. */
  readonly unexpected: readonly string[];
  /** Requests, answers and payloads against GitHub's description. A test asserts that it is empty. */
  readonly violations: readonly string[];
  /** Waits until the events about the app's own writes are delivered. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const defaultPermissions: Permissions = {
  checks: 'write',
  contents: 'write',
  issues: 'write',
  metadata: 'read',
  pull_requests: 'write',
};

/** Starts a strict GitHub on a loopback port: REST, webhooks and git over real bare repositories. */
export async function createGitHubDouble(options: GitHubDoubleOptions = {}): Promise<GitHubDouble> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'github-double-')));
  await mkdir(dir, { recursive: true });
  const app = createApp(options);
  const state: State = {
    dir,
    url: 'http://127.0.0.1',
    app,
    users: new Map([app.owner, app.bot].map((user) => [user.login.toLowerCase(), user])),
    repositories: new Map(),
    installations: new Map(),
    tokens: new Map(),
    checkRuns: [],
    reviews: [],
    comments: [],
    nextId: 1_001,
  };
  const tokenOptions: TokenOptions = { lifetime: 3600, form: 'short', ...options.token };
  const description = openDescription();
  const journal = openJournal();
  const faults = createFaults();
  const unexpected: string[] = [];
  const violations: string[] = [];
  const webhooks = createWebhooks(app, description, violations, options.webhookUrl ?? null);
  const controls = createControls(state, webhooks, tokenOptions, options.permissions ?? app.permissions);
  const echoes = new Set<Promise<void>>();
  const routes = [
    ...appRoutes(tokenOptions),
    ...metaRoutes(),
    ...repositoryRoutes,
    ...pullRoutes,
    ...checkRoutes,
    ...reviewRoutes,
    ...commentRoutes,
    ...checkSuiteRoutes,
    ...branchRoutes,
    ...blobRoutes,
    ...treeRoutes,
    ...gitCommitRoutes,
    ...refRoutes,
    ...pullWriteRoutes,
    ...issueRoutes,
    ...labelRoutes,
  ];
  const onApplied: Parameters<typeof serveApi>[0]['onApplied'] = (...write) => {
    if (!options.echo) return;
    const echo = echoWrite(state, webhooks, ...write)
      .catch((error: unknown) => void violations.push(`echo of ${write[0]}: ${String(error)}`))
      .finally(() => echoes.delete(echo));
    echoes.add(echo);
  };
  const parts = { state, routes, description, journal, faults, unexpected, violations, onApplied };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', state.url).pathname;
    if (path.startsWith('/_control/')) await serveControl(double, request, response);
    else if (isGitRequest(path)) await serveGit(state, journal, request, response);
    else await serveApi(parts, request, response);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      violations.push(`the double failed at ${request.method} ${request.url}: ${String(error)}`);
      response.destroy();
    });
  });
  // Whoever is idle hangs up by himself: what he sends meets no connection that has just been closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const double: GitHubDouble = {
    ...controls,
    url: state.url,
    apiUrl: state.url,
    serverUrl: state.url,
    dir,
    app,
    faults,
    webhooks,
    journal: journal.entries,
    writes: () => journal.entries.filter((entry) => entry.applied),
    unexpected,
    violations,
    async settled() {
      while (echoes.size > 0) await Promise.all(echoes);
    },
    async close() {
      faults.release('drop');
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await Promise.all(echoes);
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
  return double;
}

function createApp({ app = {} }: GitHubDoubleOptions): App {
  const privateKey = app.privateKey ?? newKey();
  const slug = app.slug ?? 'patchfleet';
  const owner: User = { id: 1, login: 'app-owner', type: 'Organization' };
  return {
    id: app.id ?? 4242,
    slug,
    name: slug,
    clientId: 'Iv1.8a61f9b3a7aba766',
    privateKey,
    publicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString(),
    webhookSecret: app.webhookSecret ?? 'webhook-secret-of-the-double',
    permissions: defaultPermissions,
    events: ['check_run', 'check_suite', 'issue_comment', 'issues', 'pull_request', 'push'],
    owner,
    bot: { id: 2, login: `${slug}[bot]`, type: 'Bot' },
  };
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}
