import { isFailing } from '../domain/check-conclusion.ts';
import { ignored, lacking, type TriggerDecision } from './trigger-decision.ts';
import { checkRunPayload, checkSuitePayload, isBot, pushPayload, repositoryOf } from './trigger-payloads.ts';

/** Triggers about branches: pushes, and the checks of the branches that our tasks made. */

/** A line of the message of every commit that a task of ours made. */
export const taskTrailer = /^[ \t*-]*Patchfleet-Task:/m;

export function readPush(payload: unknown): TriggerDecision {
  const { data, error } = pushPayload.safeParse(payload);
  if (data === undefined) return lacking(error);
  const { sender, ref, after } = data;
  const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
  if (branch === undefined) return ignored('a push to no branch');
  if (data.deleted || /^0+$/.test(after)) return ignored('the branch was deleted');
  if (isBot(sender)) return ignored(`caused by the bot ${sender.login}`);
  const commits = [...(data.commits ?? []), ...(data.head_commit == null ? [] : [data.head_commit])];
  // Merging what a campaign made must not start it again.
  if (commits.some(({ message }) => taskTrailer.test(message))) return ignored('a push of our own work');
  return {
    kind: 'push',
    repository: repositoryOf(data),
    branch,
    defaultBranch: data.repository.default_branch,
    after,
    actor: sender.login,
  };
}

export function readCheckSuite(payload: unknown, self: { id: number }): TriggerDecision {
  const { data, error } = checkSuitePayload.safeParse(payload);
  if (data === undefined) return lacking(error);
  return readChecks(data, data.check_suite, data.check_suite.head_branch, true, self);
}

export function readCheckRun(payload: unknown, self: { id: number }): TriggerDecision {
  const { data, error } = checkRunPayload.safeParse(payload);
  if (data === undefined) return lacking(error);
  return readChecks(data, data.check_run, data.check_run.check_suite.head_branch, false, self);
}

/** Checks are reported by apps, which are bots: nobody else's word counts here. */
function readChecks(
  data: Parameters<typeof repositoryOf>[0],
  checks: { app?: { id: number } | null | undefined; conclusion: string | null; head_sha: string },
  branch: string | null,
  isSuite: boolean,
  self: { id: number },
): TriggerDecision {
  if (checks.app?.id === self.id) return ignored('a check of this app');
  const taskId = ownBranch.exec(branch ?? '')?.[1];
  if (branch === null || taskId === undefined) return ignored('checks of a branch that is not ours');
  const { conclusion } = checks;
  if (!isFailing(conclusion)) return ignored(`the checks ended as ${conclusion}`);
  return {
    kind: 'checks_failed',
    repository: repositoryOf(data),
    taskId,
    branch,
    headSha: checks.head_sha,
    isSuite,
  };
}

/** Branches of tasks: the id, and where a task makes several pull requests, something after it. */
const ownBranch = /^patchfleet\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-z])/;
