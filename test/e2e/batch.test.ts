import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, ownComments, ownPulls, tasksOf } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { databaseUrl, queryRows } from '../support/app/data-directory.ts';
import { badFixes, goodFixes, newRow, row, testedRepository } from '../support/app/tested-repository.ts';
import { until } from '../support/app/until.ts';
import { describeWorld, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';

const combined = 'tea/shop';
const perIssue = 'tea/each';
/** No machine is so slow that a batch begins while its issues are labelled; see {@link endQuiet}. */
const quiet = 'batch:\n  quiet_seconds: 3600\n';

let world: World;

beforeAll(async () => {
  const withFile = (file: string) => ({ ...testedRepository, '.github/patchfleet.yml': file });
  world = await startWorld({
    files: withFile(quiet),
    model: {
      plans: [
        { when: 'The sum', rows: [row('Sum better', 'src/add.js')] },
        { when: 'The greeting', rows: [row('Greet better', 'src/greet.js')] },
        { when: 'A farewell', rows: [newRow('Say farewell', 'src/farewell.js')] },
      ],
      fixes: [
        { when: 'Sum better.', ...goodFixes.add },
        { when: 'Greet better.', ...badFixes.greet },
        { when: 'Say farewell.', path: 'src/farewell.js', content: "export const farewell = 'Good bye';\n" },
      ],
    },
  });
  const file = `${quiet}  pull_requests: per_issue\n`;
  await world.github.createRepository({ fullName: perIssue, files: withFile(file) });
  for (const repository of [combined, perIssue])
    await world.github.setPermission(repository, 'wilma', 'write');
});
afterAll(() => world.close());

async function openIssues(repository: string) {
  const numbers: number[] = [];
  for (const title of ['The sum', 'The greeting', 'A farewell']) {
    const body = `${title} should be better.`;
    numbers.push((await world.github.openIssue(repository, { title, body, author: 'otto' })).number);
  }
  return numbers as [number, number, number];
}

/** Waits until that many issues are gathered and every event is dealt with. Then no issue was added for the time it takes. */
async function endQuiet(issues: number): Promise<void> {
  const gathered = async () => {
    const [row] = await queryRows<{ gathered: number; open: number }>(
      world.databaseDir,
      `select (select jsonb_array_length(issues) from tasks where phase = 'held') as gathered,
              (select count(*) from deliveries where status = 'received')::int as open`,
    );
    return row?.gathered === issues && row.open === 0;
  };
  await until('the issues are gathered', gathered, { describe: () => describeWorld(world) });
  const client = new pg.Client({ connectionString: await databaseUrl(world.databaseDir) });
  await client.connect();
  try {
    await client.query(`update tasks set start_after = now() - interval '1 s' where phase = 'held'`);
  } finally {
    await client.end();
  }
}

/** Those of ours that were set on an issue, in that order. */
function labelsSet(repository: string, issue: number): string[] {
  return world.github
    .writes()
    .filter(({ method, path }) => method === 'POST' && path === `/repos/${repository}/issues/${issue}/labels`)
    .flatMap(({ body }) => (body as { labels: string[] }).labels);
}

describe('issues that get the label', () => {
  it('are one batch with one pull request; what fails is told on its issue and its label', async () => {
    const { github } = world;
    const issues = await openIssues(combined);
    const sender = 'wilma';
    await Promise.all(
      issues.map((issue) => github.addLabel(combined, issue, 'patchfleet:batch', { sender })),
    );
    // Again, while the batch is gathered: it is the same one.
    await github.removeLabel(combined, issues[0], 'patchfleet:batch', { sender });
    await github.addLabel(combined, issues[0], 'patchfleet:batch', { sender });
    // Nothing is done before it is told that it is worked on.
    const answer = world.model.hold(({ attempt }) => attempt !== '');
    await endQuiet(issues.length);
    const running = async () => {
      const labels = await Promise.all(issues.map((issue) => github.labels(combined, issue)));
      return labels.every((names) => names.join() === 'patchfleet:running');
    };
    await until('every issue is worked on', running, { describe: () => describeWorld(world) }).finally(
      answer,
    );
    await untilIdle(world);

    expect(await tasksOf(world, 'batch')).toHaveLength(1);
    const [pull, ...others] = await ownPulls(world, combined);
    expect(others).toEqual([]);
    expect(pull).toMatchObject({ draft: true, baseRef: 'main' });
    expect(pull?.body).toContain(`Fixes #${issues[0]}`);
    expect(pull?.body).not.toContain(`Fixes #${issues[1]}`);
    expect(pull?.body).toContain(`Fixes #${issues[2]}`);
    for (const [issue, last] of [
      [issues[0], 'done'],
      [issues[1], 'failed'],
      [issues[2], 'done'],
    ] as const) {
      expect(await github.labels(combined, issue)).toEqual([`patchfleet:${last}`]);
      expect(labelsSet(combined, issue)).toEqual(['patchfleet:running', `patchfleet:${last}`]);
      expect(await ownComments(world, issue, combined)).toHaveLength(1);
    }
    const [table] = await ownComments(world, issues[0], combined);
    expect(table).toContain('| Issue | Subtask | Status | Result |');
    expect((await ownComments(world, issues[1], combined))[0]).toContain('greet says the name');
    expect((await github.issues(combined)).map(({ state }) => state)).toEqual(['open', 'open', 'open']);
    await assertStrict(world);
  });

  it('get a pull request each where the repository wants that', async () => {
    const { github } = world;
    const issues = await openIssues(perIssue);
    await Promise.all(
      issues.map((issue) => github.addLabel(perIssue, issue, 'patchfleet:batch', { sender: 'wilma' })),
    );
    await endQuiet(issues.length);
    await untilIdle(world);
    const [task] = await tasksOf(world, 'batch');
    const pulls = await ownPulls(world, perIssue);
    expect(pulls.map(({ headRef, title }) => [headRef, title])).toEqual([
      [`patchfleet/${task?.id}/${issues[0]}`, 'The sum'],
      [`patchfleet/${task?.id}/${issues[2]}`, 'A farewell'],
    ]);
    expect(await github.fileAt(perIssue, pulls[0]?.headRef ?? '', 'src/farewell.js')).toBe(null);
    const labels = await Promise.all(issues.map((issue) => github.labels(perIssue, issue)));
    expect(labels).toEqual([['patchfleet:done'], ['patchfleet:failed'], ['patchfleet:done']]);
    await assertStrict(world);
  });

  it('by somebody who may not write are no batch', async () => {
    const { github } = world;
    const before = await tasksOf(world, 'batch');
    const { number } = await github.openIssue(combined, { title: 'The sum', body: '?', author: 'otto' });
    await github.addLabel(combined, number, 'patchfleet:batch', { sender: 'otto' });
    await untilIdle(world);
    expect(await tasksOf(world, 'batch')).toEqual(before);
    expect(await ownComments(world, number, combined)).toEqual([]);
  });
});

describe('a batch by command', () => {
  it('takes the open issues of any label', async () => {
    const { github } = world;
    const { number } = await github.openIssue(combined, {
      title: 'A farewell',
      body: 'Say it.',
      author: 'otto',
      labels: ['bug'],
    });
    const before = await ownPulls(world, combined);
    const asked = await ask(world, number, '/patchfleet batch label:bug', { repository: combined });
    expect(asked.answers).toHaveLength(1);
    await until('there is one more', async () => (await ownPulls(world, combined)).length > before.length);
    expect(await github.labels(combined, number)).toEqual(['bug', 'patchfleet:done']);
    await assertStrict(world);
  });
});
