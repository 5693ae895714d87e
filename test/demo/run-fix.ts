import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { Candidate } from '../../src/domain/candidate.ts';
import { describeWorld } from '../support/app/until-done.ts';
import type { World } from '../support/app/world.ts';
import type { Sample } from '../support/sample/sample.ts';
import { readTimes, type StageTimes, stagesOf } from './measure.ts';
import { conflicting, instruction, landingCommit } from './planned-fix.ts';
import type { readRowStates } from './row-states.ts';
import { finishedTask, mostSandboxes, type Stage, watch } from './stage.ts';

export interface FixFacts {
  readonly figures: {
    /** Rows of agents. */
    readonly subtasks: number;
    readonly maxConcurrent: number;
    readonly wallMs: number;
    readonly agentMsSum: number;
    readonly merged: number;
    readonly leftOut: readonly { subtask: string; code: string; reason: string }[];
    readonly pullRequest: {
      readonly number: number;
      readonly draft: boolean;
      readonly branch: string;
      readonly testsPass: boolean;
    };
  };
  readonly contract: string;
  /** Of the pull request. */
  readonly title: string;
  readonly body: string;
  /** The tree of the branch is the tree of the verified candidate. */
  readonly sameTree: boolean;
  readonly stages: readonly StageTimes[];
}

/** A maintainer asks for a change of every package; meanwhile somebody else changes one of the lines. */
export async function runFix(stage: Stage, sample: Sample): Promise<FixFacts> {
  const { world, client } = stage;
  const { github, repository } = world;
  const issue = await github.openIssue(repository, {
    title: 'Strings are all over the place',
    body: 'Translators cannot find them.',
    author: 'wilma',
  });
  const started = performance.now();
  await github.comment(repository, issue.number, {
    author: 'wilma',
    body: `/patchfleet fix ${instruction}`,
  });
  stage.say(`\nIssue #${issue.number}: wilma comments "/patchfleet fix ${instruction}"`);
  let landed = false;
  const land = async (rows: Awaited<ReturnType<typeof readRowStates>>) => {
    const row = rows.find(({ title }) => title === conflicting) ?? rows[0];
    if (landed || row === undefined || row.state === 'waiting' || row.state === 'starting') return;
    landed = true;
    const files = landingCommit(sample.base);
    const message = 'Search the slug for its last hyphen up to its length';
    const { sha } = await github.push(repository, { branch: 'main', files, message, author: 'otto' });
    stage.say(`     main moved to ${sha.slice(0, 12)}: otto changed a line of ${Object.keys(files)[0]}`);
  };
  const finished = async () => (await finishedTask(client, 'fix')) !== null;
  await watch(stage, 'fix', 'the fix is finished', finished, { together: 4, onRows: land });
  const wallMs = Math.round(performance.now() - started);
  await github.settled();
  const { tasks, attempts, merges } = await readTimes(client, 'fix');
  const stages = stagesOf(tasks, attempts, merges);
  const result = await readResult(client);
  const branch = `patchfleet/${result.taskId}`;
  const pull = (await github.pullRequests(repository)).find(({ headRef }) => headRef === branch);
  if (pull === undefined) throw new Error(`no pull request was opened\n${await describeWorld(world)}`);
  const { merged, leftOut, tree } = result.candidate;
  return {
    figures: {
      subtasks: result.titles.length,
      maxConcurrent: mostSandboxes(stage, attempts),
      wallMs,
      agentMsSum: Math.round(stages.find(({ stage: name }) => name === 'agent')?.sum ?? 0),
      merged: merged.length,
      leftOut: leftOut.map(({ row, code, reason }) => ({
        subtask: result.titles[row] ?? String(row),
        code,
        reason,
      })),
      pullRequest: {
        number: pull.number,
        draft: pull.draft,
        branch,
        testsPass: await testsPass(world, branch, stage.signal),
      },
    },
    contract: result.contract,
    title: pull.title,
    body: pull.body ?? '',
    sameTree: (await github.commitAt(repository, branch))?.tree === tree,
    stages,
  };
}

async function readResult(client: Client) {
  const { rows } = await client.query<{
    taskId: string;
    contract: string;
    candidate: Candidate;
    titles: string[];
  }>(
    `select t.id as "taskId", t.contract, c.candidate,
            (select array_agg(s.title order by s.row) from subtasks s
              where s.task_id = t.id and s.kind = 'agent') as titles
       from tasks t join candidates c on c.task_id = t.id where t.kind = 'fix'`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the fix made no candidate');
  return row;
}

/** The sample's own tests, in a clean checkout of the branch. */
async function testsPass({ github, repository }: World, branch: string, signal: AbortSignal) {
  const dir = await mkdtemp(join(tmpdir(), 'checkout-'));
  try {
    const tree = join(dir, 'tree');
    await github.checkout(repository, branch, tree);
    // Run by a test runner, Node's own would take itself for a part of it.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return await new Promise<boolean>((resolve) => {
      execFile(process.execPath, ['--test'], { cwd: tree, env, signal }, (error) => resolve(error === null));
    });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
