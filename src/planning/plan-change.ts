import type { PlannerAgent } from '../agents/port.ts';
import type { AgentConfig } from '../config/agent-config.ts';
import type { Limits } from '../config/operator-config.ts';
import type { RepositoryConfig } from '../config/repository-config.ts';
import { selectFixAgent, selectModelAgent } from '../config/select-agents.ts';
import { PatchfleetError } from '../domain/failure.ts';
import type { Plan } from '../domain/matrix.ts';
import type { ProtectionOf } from '../domain/protected-paths.ts';
import type { RepositoryRef, SubjectIssue, TaskKind } from '../domain/task.ts';
import type { Mirror, Mirrors } from '../github/port.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Checks } from './judge-parallel.ts';
import { isManifest } from './packages.ts';
import { planBatch } from './plan-batch.ts';
import { planFix } from './plan-fix.ts';
import type { PlannedTask } from './plan-task.ts';
import { planTriage } from './plan-triage.ts';
import type { SubjectText } from './quote-subject.ts';

export interface ChangeRequest {
  /** The task's. */
  readonly id: string;
  readonly kind: Exclude<TaskKind, 'review'>;
  readonly repository: RepositoryRef;
  readonly subject: SubjectText;
  /** The commit that is worked on, and that of the base where the subject is a pull request. */
  readonly headSha: string;
  readonly baseSha: string;
  /** Branch the result goes to; empty for a triage. */
  readonly targetRef: string;
  readonly instruction: string;
  /** Of a batch. */
  readonly issues: readonly SubjectIssue[];
  readonly config: RepositoryConfig;
  /** The operator's agents, in the order of the configuration. */
  readonly agents: readonly AgentConfig[];
  readonly limits: Limits;
}

export interface ChangePlanner {
  /**
   * Plans what changes files, or sorts an issue. Fails with `commit_missing`, `config_invalid` (no agent can do
   * it), `plan_invalid`, `cancelled`, or as fetching and the model gateway do.
   */
  plan(request: ChangeRequest, signal: AbortSignal): Promise<PlannedTask & { readonly filesRead: number }>;
}

export function createChangePlanner(deps: {
  readonly mirrors: Mirrors;
  /** Null: no model plans with this agent. */
  readonly plannerAgentFor: (config: AgentConfig) => PlannerAgent | null;
  /** Of a repository with that file; see {@link ProtectionOf}. */
  readonly protectionBy: (config: RepositoryConfig) => ProtectionOf;
  /** The commands that check a commit. */
  readonly checksOf: (
    mirror: Mirror,
    commit: string,
    config: RepositoryConfig,
  ) => Promise<readonly unknown[]>;
  readonly log: Pick<Logger, 'warn'>;
}): ChangePlanner {
  return {
    async plan(request, signal) {
      const { kind, config, limits, subject } = request;
      const agent =
        kind === 'triage' ? selectModelAgent(request.agents) : selectFixAgent(request.agents, config);
      if (kind === 'triage') return planned(planTriage({ subject, agent: agent.name, limits }), request, []);
      const mirror = await deps.mirrors.open(request.repository);
      const files = await readTree(mirror, request, signal);
      signal.throwIfAborted();
      const planner = deps.plannerAgentFor(agent);
      const facts = {
        taskId: request.id,
        instruction: request.instruction,
        files,
        config,
        limits,
        agent: agent.name,
        protection: deps.protectionBy(config),
        checks: checksFound(config, await deps.checksOf(mirror, request.headSha, config)),
        propose: planner === null ? null : planner.propose,
        signal,
      };
      if (kind === 'batch') {
        if (request.issues.length === 0) throw new PatchfleetError('plan_invalid', 'the batch has no issues');
        return planned(await planBatch({ ...facts, issues: request.issues, log: deps.log }), request, files);
      }
      return planned(await planFix({ ...facts, subject }), request, files);
    },
  };
}

function checksFound(config: RepositoryConfig, commands: readonly unknown[]): Checks {
  if (commands.length > 0) return 'found';
  return config.verify.commands === null ? 'none_found' : 'declined';
}

async function readTree(mirror: Mirror, request: ChangeRequest, signal: AbortSignal): Promise<string[]> {
  const { subject, headSha, baseSha, targetRef } = request;
  if (subject.kind === 'pull_request')
    await mirror.fetchPullRequest(subject.number, headSha, baseSha, signal);
  else await mirror.fetchCommit(headSha, targetRef, signal);
  return mirror.listTree(headSha);
}

/** As a review's plan is told: nothing of a diff is covered or skipped here. */
function planned(
  plan: Plan,
  request: ChangeRequest,
  files: readonly string[],
): PlannedTask & { filesRead: number } {
  const tree = { files: files.length, packages: files.filter(isManifest).length };
  const coverage = { changedFiles: 0, reviewedFiles: 0, skippedFiles: 0, additions: 0, deletions: 0 };
  return { plan, skipped: [], mergeBase: request.headSha, coverage, tree, filesRead: files.length };
}
