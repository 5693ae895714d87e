import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, ownComments, ownPulls, tasksOf } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows, sandboxesOf } from '../support/app/data-directory.ts';
import { goodFixes, row, testedRepository, twoRows } from '../support/app/tested-repository.ts';
import { until } from '../support/app/until.ts';
import { untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ files: testedRepository, env: { LOG_LEVEL: 'debug' } });
  await world.github.setPermission(world.repository, 'wilma', 'write');
});
afterAll(() => world.close());

const openIssue = () =>
  world.github.openIssue(world.repository, { title: 'Better words', body: 'Please.', author: 'otto' });

/** Which sandboxes were handed to whom, by the log. */
const taken = ({ apps }: World) =>
  apps
    .flatMap((app) => app.logs().split('\n'))
    .filter((line) => line.includes('"sandbox taken"'))
    .map((line) => JSON.parse(line) as { warm: boolean; from: string; container: string; waitedMs: number });

describe('a fix', () => {
  it('asked for on an issue comes as one draft pull request of what was verified', async () => {
    const { github, repository, model } = world;
    model.configure({ plans: twoRows, fixes: [goodFixes.add, goodFixes.greet], runChecks: true });
    const issue = await openIssue();
    // The planner gets no answer before a sandbox is on its way.
    const answer = model.hold(({ attempt }) => attempt === '');
    const ahead = until(
      'a sandbox is started ahead',
      async () => (await sandboxesOf(world.dataDir)).length > 0,
    );
    const [asked] = await Promise.all([
      ask(world, issue.number, '/patchfleet fix use better words'),
      ahead.finally(answer),
    ]);
    expect(asked.reactions).toEqual(['eyes']);
    expect(asked.answers).toHaveLength(1);
    expect(asked.answers[0]).toMatch(/^\*\*Draft pull request \[#2\].*: 2 of 2 subtasks merged\.\*\*/);

    const [task] = await tasksOf(world, 'fix');
    const [pull, ...others] = await ownPulls(world);
    expect(others).toEqual([]);
    const headRef = `patchfleet/${task?.id}`;
    expect(pull).toMatchObject({ title: 'use better words', draft: true, headRef, baseRef: 'main' });
    expect(pull?.body).toContain(`Fixes #${issue.number}`);
    expect(pull?.body).toContain('Verified as a whole: nothing fails with it that did not fail before.');
    expect(await github.fileAt(repository, headRef, 'src/add.js')).toContain('b + a');
    expect(await github.fileAt(repository, headRef, 'src/greet.js')).toContain('Good day');

    const [candidate] = await queryRows<{ tree: string; base: string }>(
      world.databaseDir,
      `select candidate->>'tree' as tree, candidate->>'targetSha' as base from candidates`,
    );
    const commit = await github.commitAt(repository, headRef);
    expect(commit).toMatchObject({ tree: candidate?.tree, parents: [candidate?.base] });
    // Our own draft is not reviewed.
    expect(await tasksOf(world, 'review')).toEqual([]);
    // What was started while it was planned is what they got.
    const agents = await queryRows<{ container: string }>(
      world.databaseDir,
      `select a.container_id as container from attempts a join subtasks s on s.id = a.subtask_id
        where s.task_id = $1 and s.kind = 'agent'`,
      [task?.id],
    );
    const warm = taken(world).filter(({ warm }) => warm);
    expect(agents.filter(({ container }) => warm.some((one) => one.container === container))).not.toEqual([]);
    await assertStrict(world);
  });

  it('whose pull request fails in the CI of the repository is told there and repaired once', async () => {
    const { github, repository, model } = world;
    const [pull] = await ownPulls(world);
    model.configure({
      plans: [{ rows: [row('Repair the sum', 'src/add.js')] }],
      fixes: [{ path: 'src/add.js', find: 'b + a', replace: 'a + b' }],
    });
    const failing = { name: 'ci / lint', conclusion: 'failure' };
    await github.addCheckRun(repository, { headSha: pull?.headSha ?? '', ...failing });
    await untilIdle(world);
    const told = await ownComments(world, pull?.number ?? 0);
    expect(told.filter((body) => body.includes('**1 check of this repository failed on'))).toHaveLength(1);
    expect(told.join('\n')).toContain('`ci / lint`');
    const repairs = (await ownPulls(world)).filter(({ baseRef }) => baseRef === pull?.headRef);
    expect(repairs).toHaveLength(1);
    expect(await github.fileAt(repository, repairs[0]?.headRef ?? '', 'src/add.js')).toContain('a + b');

    await github.addCheckRun(repository, { headSha: repairs[0]?.headSha ?? '', ...failing });
    await github.addCheckRun(repository, { headSha: pull?.headSha ?? '', ...failing, name: 'ci / again' });
    await untilIdle(world);
    expect(await tasksOf(world, 'fix')).toHaveLength(2);
    await assertStrict(world);
  });

  it('of a pull request goes to its branch', async () => {
    const { github, repository, model } = world;
    model.configure({ plans: [{ rows: [row('Sum better', 'src/add.js')] }], fixes: [goodFixes.add] });
    const files = { 'src/more.js': 'export const more = 1;\n' };
    const pull = await github.openPullRequest(repository, { branch: 'feature', files, draft: true });
    const asked = await ask(world, pull.number, '/patchfleet fix sum better');
    expect(asked.answers[0]).toContain('1 of 1 subtask merged.');
    const [ours] = (await ownPulls(world)).filter(({ baseRef }) => baseRef === 'feature');
    expect(ours).toMatchObject({ draft: true });
    expect(await github.fileAt(repository, ours?.headRef ?? '', 'src/more.js')).toBe(files['src/more.js']);
    await assertStrict(world);
  });

  it('of a pull request from a fork comes as a patch in a comment; nothing is pushed', async () => {
    const { github, repository } = world;
    const before = { pulls: await ownPulls(world), refs: await github.refs(repository, 'refs/heads/') };
    const files = { 'src/more.js': 'export const more = 2;\n' };
    const fork = { branch: 'theirs', fork: 'friend', files, draft: true };
    const pull = await github.openPullRequest(repository, fork);
    const asked = await ask(world, pull.number, '/patchfleet fix sum better');
    const text = asked.answers.join('\n');
    expect(text).toContain('The head is in a fork, where nothing can be pushed');
    expect(text).toContain('diff --git a/src/add.js b/src/add.js');
    expect(text).toContain('+  return b + a;');
    expect(await ownPulls(world)).toEqual(before.pulls);
    expect(await github.refs(repository, 'refs/heads/')).toEqual(before.refs);
    await assertStrict(world);
  });

  it('that has nothing to change is an answer and no pull request', async () => {
    world.model.configure({ plans: [{ rows: [row('Sum better', 'src/add.js')] }], fixes: [] });
    const pulls = await ownPulls(world);
    const issue = await openIssue();
    const asked = await ask(world, issue.number, '/patchfleet fix nothing at all');
    expect(asked.answers).toHaveLength(1);
    expect(asked.answers[0]).toContain('There is nothing to change: no pull request.');
    expect(asked.answers[0]).toContain('The inputs have nothing that the goal is about.');
    expect(await ownPulls(world)).toEqual(pulls);
    await assertStrict(world);
  });

  it('that is cancelled publishes nothing and leaves no sandbox', async () => {
    const { github, repository, model } = world;
    model.configure({ plans: twoRows, fixes: [goodFixes.add], mode: 'hang', only: 'Greet better.' });
    model.clearJournal();
    const pulls = await ownPulls(world);
    const issue = await openIssue();
    await github.comment(repository, issue.number, { author: 'wilma', body: '/patchfleet fix' });
    await until('an agent works', () => model.journal().some(({ mode }) => mode === 'hang'));
    const asked = await ask(world, issue.number, '/patchfleet cancel');
    expect(asked.answers.join('\n')).toMatch(/Cancelled the fix of `wilma` on `[0-9a-f]{12}`/);
    expect((await ownComments(world, issue.number)).join('\n')).toContain('**The fix was cancelled.**');
    expect(await ownPulls(world)).toEqual(pulls);
    await until('the sandboxes are gone', async () => (await sandboxesOf(world.dataDir)).length === 0);
    await assertStrict(world);
  });
});
