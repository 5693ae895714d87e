import { z } from 'zod';
import type { RepositoryRef } from '../domain/task.ts';

/** The parts of webhook payloads that triggers are read from. All else in them is left alone. */

const id = z.int().positive();
const sha = z.string().regex(/^[0-9a-f]{40}$/);
const name = z.string().min(1).max(255);
const user = z.object({ login: z.string().min(1).max(200), type: z.string().max(40) });
export type PayloadUser = z.infer<typeof user>;

const common = {
  installation: z.object({ id }),
  repository: z.object({ id, name: z.string().min(1), owner: z.object({ login: z.string().min(1) }) }),
  sender: user,
};
const acted = { action: z.string(), ...common };
const label = z.object({ name: z.string().max(200) });
const moment = z.iso.datetime({ offset: true });
const state = z.enum(['open', 'closed']);
/** Postgres stores any text but U+0000. */
const text = z.string().transform((value) => value.replaceAll('\0', '\uFFFD'));
const words = { title: text, body: text.nullish().transform((value) => value ?? '') };

export const pullRequestPayload = z.object({ ...acted, pull_request: z.object({ number: id }) });
export const pullLabelPayload = z.object({
  ...acted,
  label,
  pull_request: z.object({ number: id, ...words, state, updated_at: moment, head: z.object({ sha }) }),
});
export const issueLabelPayload = z.object({
  ...acted,
  label,
  issue: z.object({
    number: id,
    ...words,
    state,
    updated_at: moment,
    pull_request: z.object({}).nullish(),
  }),
});
export const issuePayload = z.object({ ...acted, issue: z.object({ number: id, user: user.nullable() }) });
export const closedIssuePayload = z.object({ ...acted, issue: z.object({ number: id }) });
export const issueCommentPayload = z.object({
  ...acted,
  issue: z.object({ number: id, ...words, pull_request: z.object({}).nullish() }),
  comment: z.object({
    id,
    body: z.string(),
    user,
    performed_via_github_app: z.object({ id }).nullish(),
  }),
});

const commit = z.object({ message: z.string() });
export const pushPayload = z.object({
  ...common,
  ref: z.string().min(1).max(1000),
  after: sha,
  deleted: z.boolean(),
  head_commit: commit.nullish(),
  commits: z.array(commit).optional(),
  repository: common.repository.extend({ default_branch: name }),
});

const checksOf = z.object({
  app: z.object({ id }).nullish(),
  conclusion: z.string().nullable(),
  head_sha: sha,
});
export const checkSuitePayload = z.object({
  ...acted,
  check_suite: checksOf.extend({ head_branch: z.string().nullable() }),
});
export const checkRunPayload = z.object({
  ...acted,
  check_run: checksOf.extend({ check_suite: z.object({ head_branch: z.string().nullable() }) }),
});

export function repositoryOf(payload: {
  installation: { id: number };
  repository: { id: number; name: string; owner: { login: string } };
}): RepositoryRef {
  const { installation, repository } = payload;
  return {
    installationId: installation.id,
    id: repository.id,
    owner: repository.owner.login,
    name: repository.name,
  };
}

export function isBot(who: PayloadUser): boolean {
  return who.type === 'Bot' || who.login.endsWith('[bot]');
}
