import { announceCompletion } from './announce.ts';
import { runsOfSuite, suiteState } from './check-suites.ts';
import { addCheckRun } from './checks.ts';
import { actionsAppId } from './objects.ts';
import { checkRunPayload } from './payloads.ts';
import { type CheckRun, ensureUser, repositoryNamed, type State, timestamp } from './state.ts';
import type { Webhooks } from './webhooks.ts';

export interface NewCheckRun {
  readonly headSha: string;
  readonly name: string;
  /** Default: that of GitHub Actions. */
  readonly appId?: number;
  /** With one the run is completed at once. */
  readonly conclusion?: string;
  /** What a completed run says of itself. */
  readonly output?: { readonly title?: string; readonly summary?: string; readonly text?: string };
}

/** What other apps do to their check runs, and users to anyone's. */
export function createCheckControls(state: State, webhooks: Webhooks) {
  const repo = (fullName: string) => repositoryNamed(state, fullName);
  const complete = (run: CheckRun, conclusion: string) => {
    Object.assign(run, { status: 'completed', conclusion, completedAt: timestamp() });
    run.writes++;
  };
  const botOf = (appId: number) => {
    return ensureUser(state, appId === actionsAppId ? 'github-actions[bot]' : `app-${appId}[bot]`, 'Bot');
  };

  return {
    /**
     * A check run of another app, as other tools of a repository make them. With a conclusion
     * `check_run.completed` is delivered, and `check_suite.completed` where no run of the suite is left open.
     */
    async addCheckRun(fullName: string, request: NewCheckRun) {
      const repository = repo(fullName);
      const { headSha, name, conclusion, appId = actionsAppId, output } = request;
      const run = addCheckRun(state, repository, { headSha, name, appId });
      Object.assign(run, output);
      if (conclusion === undefined) return { id: run.id, delivery: null };
      complete(run, conclusion);
      const ended = suiteState(runsOfSuite(state, run.suiteId)).status === 'completed';
      const sender = botOf(appId);
      return {
        id: run.id,
        delivery: await announceCompletion(state, webhooks, repository, [run], ended, sender),
      };
    },
    /** Completes what is open in another app's suite (a run `ci` where there is none); delivers all the events. */
    async completeCheckSuite(
      fullName: string,
      request: { headSha: string; conclusion: string; appId?: number },
    ) {
      const repository = repo(fullName);
      const { headSha, conclusion, appId = actionsAppId } = request;
      const own = state.checkRuns.filter(
        (r) => r.repositoryId === repository.id && r.headSha === headSha && r.appId === appId,
      );
      if (own.length === 0) own.push(addCheckRun(state, repository, { headSha, name: 'ci', appId }));
      const open = own.filter((run) => run.status !== 'completed');
      for (const run of open) complete(run, conclusion);
      const told = open.length > 0 ? open : own.slice(-1);
      return announceCompletion(state, webhooks, repository, told, true, botOf(appId));
    },
    /** A user presses a button of a check run, or its re-run. */
    async pressCheckRun(
      fullName: string,
      id: number,
      request: { sender: string; action: 'rerequested' | 'requested_action'; identifier?: string },
    ) {
      const run = state.checkRuns.find((r) => r.id === id);
      if (!run) throw new Error(`no check run ${id}`);
      const more = request.identifier ? { requested_action: { identifier: request.identifier } } : {};
      const sender = ensureUser(state, request.sender);
      const payload = await checkRunPayload(state, repo(fullName), run, request.action, sender, more);
      return webhooks.send('check_run', payload);
    },
  };
}
