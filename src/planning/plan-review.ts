import type { AgentConfig } from '../config/agent-config.ts';
import type { Limits } from '../config/operator-config.ts';
import type { RepositoryConfig } from '../config/repository-config.ts';
import type { FileChange, SkippedFile } from '../domain/change.ts';
import type { MatrixRow, Plan, PlannedRow } from '../domain/matrix.ts';
import type { RepositoryRef } from '../domain/task.ts';
import { complexityOf, shapeOf } from './complexity.ts';
import { type PullRequestText, quotePullRequest, reviewContract } from './contract.ts';
import { matchGlobs } from './match-globs.ts';
import { packagesOf } from './packages.ts';
import { suits, whyNotReviewed } from './reviewable.ts';
import { type Shard, shardFiles } from './shard.ts';

export interface ReviewFacts {
  readonly repository: RepositoryRef;
  readonly pullRequest: PullRequestText;
  readonly changes: readonly FileChange[];
  /** What the reader of the diff already had to leave out. */
  readonly skipped: readonly SkippedFile[];
  /** Paths of package manifests in the head's tree. */
  readonly manifests: readonly string[];
  /** Sizes of new blobs (of old ones for deleted files) in bytes, by blob id. */
  readonly blobSizes: ReadonlyMap<string, number>;
  readonly repositoryConfig: RepositoryConfig;
  /** The agents that review, in the order of the configuration. */
  readonly agents: readonly AgentConfig[];
  readonly limits: Limits;
}

export interface ReviewPlan {
  readonly plan: Plan;
  /** Every changed file that is in no row, each with its reason; sorted by path. */
  readonly skipped: readonly SkippedFile[];
}

/**
 * The task matrix of a review: one row for each shard and agent that has files in it, ordered by shard, then
 * by agent. Every changed file is in a row or among the skipped. Rows depend on nothing.
 */
export function planReview(facts: ReviewFacts): ReviewPlan {
  const { agents, limits, repositoryConfig } = facts;
  const skipped = [...facts.skipped];
  const ignored = matchGlobs(repositoryConfig.review.ignore);
  const assigners = agents.map((agent) => ({ agent, matches: matchGlobs(agent.files) }));
  const reviewed: FileChange[] = [];
  for (const change of facts.changes) {
    const blob = change.status === 'deleted' ? change.oldBlob : change.newBlob;
    const bytes = facts.blobSizes.get(blob) ?? 0;
    const reason =
      whyNotReviewed(change, ignored, bytes, limits.file_kib * 1024) ??
      (assigners.some(({ agent, matches }) => matches(change.path) && suits(agent.kind, change))
        ? null
        : 'no agent is configured for it');
    if (reason === null) reviewed.push(change);
    else skipped.push({ path: change.path, reason });
  }
  const scores = new Map(reviewed.map((change) => [change.path, complexityOf(change)]));
  const shards = shardFiles(
    [...scores].map(([path, complexity]) => ({ path, complexity })),
    packagesOf(facts.manifests),
    { complexity: limits.shard_complexity, files: limits.shard_files, shards: limits.task_shards },
  );
  const byPath = new Map(reviewed.map((change) => [change.path, change]));
  const rows = shards.flatMap((shard) =>
    assigners.flatMap(({ agent, matches }): PlannedRow[] => {
      const files = shard.paths
        .flatMap((path) => byPath.get(path) ?? [])
        .filter((change) => matches(change.path) && suits(agent.kind, change));
      if (files.length === 0) return [];
      const complexity = files.reduce((sum, change) => sum + (scores.get(change.path) ?? 0), 0);
      return [
        {
          title: titleOf(shard, files),
          agent: agent.name,
          matrix: matrixRow(facts, shard, agent, files),
          dependsOn: [],
          complexity,
          shape: shapeOf(files),
        },
      ];
    }),
  );
  const contract = reviewContract(
    facts.repository,
    facts.pullRequest.number,
    repositoryConfig.review.instructions,
  );
  return {
    plan: { contract, rows },
    skipped: skipped.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
  };
}

function matrixRow(
  facts: ReviewFacts,
  shard: Shard,
  agent: AgentConfig,
  files: readonly FileChange[],
): MatrixRow {
  const { limits } = facts;
  const paths = files.map((change) => change.path);
  const instructions = agent.kind === 'model' ? agent.instructions.trim() : '';
  return {
    goal: `Find what is wrong with the changes to ${titleOf(shard, files)} in pull request #${facts.pullRequest.number}.`,
    background: [quotePullRequest(facts.pullRequest), `Changed files of this row:\n\n${table(files)}`].join(
      '\n\n',
    ),
    inputs: paths,
    writes: paths,
    output:
      'Findings as the contract defines them, each on one of the inputs. None is a good answer where nothing is wrong.',
    constraints: [
      'A review changes nothing: no file is written, here or on GitHub.',
      'Report on the inputs alone. They are the scope of this row; no other row of the same agent has any of them.',
      'Other files may be read for context.',
      ...(instructions === '' ? [] : [instructions]),
    ],
    verification:
      'Each finding is held against the file before it counts: the quoted lines must exist, in the new file for RIGHT, among the deleted lines for LEFT.',
    limits: {
      wallMs: limits.attempt_seconds * 1000,
      idleMs: limits.idle_seconds * 1000,
      turns: limits.agent_turns,
      tokens: limits.attempt_tokens,
    },
  };
}

/** For tables and prose: `packages/api (7 files)`. */
function titleOf(shard: Shard, files: readonly FileChange[]): string {
  return `${shard.name} (${files.length === 1 ? '1 file' : `${files.length} files`})`;
}

/** Names are JSON strings: they may hold newlines and whatever else their author liked. */
function table(files: readonly FileChange[]): string {
  return files
    .map((change) => {
      const from = change.oldPath === null ? '' : ` from ${JSON.stringify(change.oldPath)}`;
      const status = change.status.replace('_', ' ');
      return `- ${JSON.stringify(change.path)}: ${status}${from}, +${change.additions} -${change.deletions}`;
    })
    .join('\n');
}
