import { readTimes, type StageTimes, stagesOf } from './measure.ts';
import { issues as asked } from './planned-fix.ts';
import { finishedTask, type Stage, watch } from './stage.ts';

export interface BatchFacts {
  readonly figures: {
    readonly issues: number;
    /** Issues with the label `patchfleet:done`, and no other of ours. */
    readonly done: number;
    readonly pullRequests: number;
  };
  /** By issue. */
  readonly labels: readonly { readonly issue: number; readonly labels: readonly string[] }[];
  /** Comments of ours on the issues. */
  readonly comments: readonly { readonly issue: number; readonly body: string }[];
  readonly wallMs: number;
  readonly stages: readonly StageTimes[];
}

/** Three issues get the label; one batch, one pull request. */
export async function runBatch(stage: Stage): Promise<BatchFacts> {
  const { world, client } = stage;
  const { github, repository } = world;
  const numbers: number[] = [];
  for (const { title, body } of asked) {
    const issue = await github.openIssue(repository, { title, body, author: 'otto' });
    numbers.push(issue.number);
  }
  const before = (await github.pullRequests(repository)).length;
  const started = performance.now();
  for (const number of numbers) {
    await github.addLabel(repository, number, 'patchfleet:batch', { sender: 'wilma' });
  }
  stage.say(`\nIssues ${numbers.map((number) => `#${number}`).join(', ')} get the label patchfleet:batch`);
  await watch(
    stage,
    'batch',
    'the batch is finished',
    async () => (await finishedTask(client, 'batch')) !== null,
  );
  const wallMs = Math.round(performance.now() - started);
  await github.settled();
  const { tasks, attempts, merges } = await readTimes(client, 'batch');
  const labels: { issue: number; labels: string[] }[] = [];
  const comments: { issue: number; body: string }[] = [];
  for (const issue of numbers) {
    labels.push({ issue, labels: await github.labels(repository, issue) });
    const own = (await github.comments(repository, issue)).filter(({ author }) => author.type === 'Bot');
    comments.push(...own.map(({ body }) => ({ issue, body })));
  }
  return {
    figures: {
      issues: numbers.length,
      done: labels.filter((one) => one.labels.join() === 'patchfleet:done').length,
      pullRequests: (await github.pullRequests(repository)).length - before,
    },
    labels,
    comments,
    wallMs,
    stages: stagesOf(tasks, attempts, merges),
  };
}
