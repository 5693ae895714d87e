import { Probot, ProbotOctokit } from 'probot';
import { asGitHubFailure } from '../domain/github-problem.ts';
import type { Logger } from '../telemetry/log.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { createInstallationAuth } from './installation-auth.ts';
import { createPacing, shouldWait } from './pacing.ts';
import { mayCommand, mayLabel } from './permissions.ts';
import type { GitHub, InstallationClient } from './port.ts';
import { pullOfBranch, readChecks } from './read-checks.ts';
import { openIssues, readIssue } from './read-issue.ts';
import { readLabels, readOpenIssues } from './read-issues.ts';
import { readPullRequest } from './read-pull-request.ts';
import { readBranch, readRepository } from './read-repository.ts';
import { readTextFile } from './read-text-file.ts';
import { createTokenSource } from './token-source.ts';

export interface GitHubAppOptions {
  readonly appId: number | string;
  /** PEM. */
  readonly privateKey: string;
  readonly webhookSecret: string;
  /** REST base URL without a final slash, e.g. `https://api.github.com`. */
  readonly apiUrl: string;
  readonly log: Logger;
  /** Limit of one HTTP request, milliseconds. */
  readonly requestTimeoutMs?: number;
  /** Milliseconds a second of GitHub's waiting times lasts; tests shorten it. Default 1000. */
  readonly secondMs?: number;
}

export interface GitHubApp {
  readonly github: GitHub;
  /** True when `signature` (`X-Hub-Signature-256`) is that of `body` under the webhook secret. */
  verify(body: string, signature: string): Promise<boolean>;
}

/**
 * The GitHub App on Probot: its client (JWT, throttling, retries) and its webhook signatures. Requests that
 * GitHub refuses for their rate are waited for and repeated a bounded number of times; other failures are
 * repeated for reads alone, since a write whose answer was lost may have been applied.
 */
export function createGitHubApp(options: GitHubAppOptions): GitHubApp {
  const { log, secondMs = 1000 } = options;
  const fetch = boundedFetch(options.requestTimeoutMs ?? 20_000);
  const apiUrl = options.apiUrl.replace(/\/+$/, '');
  const throttle = { ...createPacing(), ...rateLimitHandlers(log), retryAfterBaseValue: secondMs };
  const Client = readsAloneAreRepeated(
    ProbotOctokit.defaults({
      baseUrl: apiUrl,
      request: { fetch },
      userAgent: 'patchfleet',
      throttle,
      retry: { retryAfterBaseValue: secondMs },
    }) as typeof ProbotOctokit,
  );
  const probot = new Probot({
    appId: options.appId,
    privateKey: options.privateKey,
    secret: options.webhookSecret,
    baseUrl: apiUrl,
    request: { fetch },
    Octokit: Client,
    log,
  });
  const tokens = createTokenSource(async (request) => {
    const app = await probot.auth();
    return (await app.rest.apps.createInstallationAccessToken({ ...request })).data;
  });
  const clients = new Map<number, InstallationClient>();
  let self: Promise<{ id: number; slug: string }> | null = null;

  async function readSelf(): Promise<{ id: number; slug: string }> {
    const app = await probot.auth();
    try {
      const { data } = await app.rest.apps.getAuthenticated();
      if (!data?.slug) throw new TypeError('GitHub did not name the app');
      return { id: data.id, slug: data.slug };
    } catch (error) {
      throw asGitHubFailure(error, 'the app could not be read');
    }
  }

  function newClient(installationId: number): InstallationClient {
    const auth = { tokens, installationId };
    const client = new Client({
      authStrategy: createInstallationAuth,
      auth,
      log: log.child({ name: 'github', installationId }),
      throttle: { ...throttle, id: String(installationId) },
    });
    return client as unknown as InstallationClient;
  }

  function clientOf({ installationId }: { installationId: number }): InstallationClient {
    const client = clients.get(installationId) ?? newClient(installationId);
    clients.set(installationId, client);
    return client;
  }

  const github: GitHub = {
    self: () => {
      self ??= readSelf().catch((error: unknown) => {
        self = null;
        throw error;
      });
      return self;
    },
    client: async (installationId) => clientOf({ installationId }),
    readToken: (repository, fresh) => {
      if (fresh !== undefined) tokens.forget(fresh.instead);
      return tokens.forReading(repository);
    },
    readPullRequest: async (repository, number) =>
      await orFail(
        'the pull request could not be read',
        readPullRequest(clientOf(repository), repository, number),
      ),
    readTextFile: async (repository, commit, path) =>
      await orFail(`${path} could not be read`, readTextFile(clientOf(repository), repository, commit, path)),
    readLabels: async (repository) =>
      await orFail('the labels could not be read', readLabels(clientOf(repository), repository)),
    readOpenIssues: async (repository) =>
      await orFail('the issues could not be read', readOpenIssues(clientOf(repository), repository)),
    readRepository: async (repository) =>
      await orFail('the repository could not be read', readRepository(clientOf(repository), repository)),
    readBranch: async (repository, branch) =>
      await orFail('the branch could not be read', readBranch(clientOf(repository), repository, branch)),
    readIssue: async (repository, number) =>
      await orFail('the issue could not be read', readIssue(clientOf(repository), repository, number)),
    openIssues: async (repository, label, max) =>
      await orFail(
        'the issues could not be listed',
        openIssues(clientOf(repository), repository, label, max),
      ),
    pullOfBranch: async (repository, branch) =>
      await orFail(
        'the pull requests could not be listed',
        pullOfBranch(clientOf(repository), repository, branch),
      ),
    readChecks: async (repository, commit) => {
      const { id } = await github.self();
      return await orFail(
        'the check runs could not be read',
        readChecks(clientOf(repository), repository, commit, id),
      );
    },
    mayCommand: (repository, login, userType) =>
      mayCommand(clientOf(repository), repository, login, userType),
    mayLabel: (repository, login, userType) => mayLabel(clientOf(repository), repository, login, userType),
  };

  return {
    github,
    verify: async (body, signature) => {
      await probot.ready();
      return await probot.webhooks.verify(body, signature);
    },
  };
}

async function orFail<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw asGitHubFailure(error, what);
  }
}

/**
 * plugin-retry repeats whatever failed. A number of retries set on the request would overrule its list of
 * statuses that are final, so it is set for writes alone: none.
 */
function readsAloneAreRepeated(Base: typeof ProbotOctokit): typeof ProbotOctokit {
  return Base.plugin((octokit) => {
    octokit.hook.before('request', (request) => {
      if (request.method === 'GET' || request.method === 'HEAD') return;
      request.request = { ...request.request, retries: 0 };
    });
    return {};
  }) as typeof ProbotOctokit;
}

function rateLimitHandlers(log: Logger) {
  const decide = (kind: string) => {
    return (
      retryAfter: number,
      request: { method: string; url: string },
      _client: unknown,
      retryCount: number,
    ) => {
      const wait = shouldWait(retryAfter, retryCount);
      log.warn(
        { method: request.method, url: request.url, retryAfter, retryCount, wait },
        `GitHub ${kind} rate limit`,
      );
      return wait;
    };
  };
  return { onRateLimit: decide('primary'), onSecondaryRateLimit: decide('secondary') };
}
