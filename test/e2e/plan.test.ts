import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, ownPulls, tasksOf } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows, sandboxesOf } from '../support/app/data-directory.ts';
import { goodFixes, row, testedRepository, twoRows } from '../support/app/tested-repository.ts';
import { startWorld, type World } from '../support/app/world.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ files: testedRepository });
  await world.github.setPermission(world.repository, 'wilma', 'write');
});
afterAll(() => world.close());

const openIssue = () =>
  world.github.openIssue(world.repository, { title: 'Better words', body: 'Please.', author: 'otto' });

describe('a plan', () => {
  it('is shown in one comment and not run; what a fix used is in the next one', async () => {
    const { github, repository, model } = world;
    model.configure({ plans: twoRows, fixes: [goodFixes.add] });
    const issue = await openIssue();
    const refs = await github.refs(repository, 'refs/heads/');
    const asked = await ask(world, issue.number, '/patchfleet plan use better words');
    expect(asked.reactions).toEqual(['eyes']);
    expect(asked.answers).toHaveLength(1);
    const [text = ''] = asked.answers;
    expect(text).toContain('**The plan: 2 subtasks.** Nothing was run, and nothing will be.');
    expect(text).toContain('| 1 | Sum better | src/add.js |  | ');
    expect(text).toContain('| 2 | Greet better | src/greet.js |  | ');
    expect(text).toContain('Parallelism: at most all of them at once.');
    expect(text).toContain('nothing of the kind ran here lately, so these are the limits of the rows');

    const [task] = await tasksOf(world, 'fix');
    expect(task).toMatchObject({ phase: 'finished', outcome: 'succeeded' });
    const attempts = await queryRows(world.databaseDir, 'select id from attempts', []);
    expect(attempts).toEqual([]);
    expect(await sandboxesOf(world.dataDir)).toEqual([]);
    expect(await ownPulls(world)).toEqual([]);
    expect(await github.refs(repository, 'refs/heads/')).toEqual(refs);
    expect(await github.labels(repository, issue.number)).toEqual([]);

    await ask(world, issue.number, '/patchfleet fix use better words');
    expect(await ownPulls(world)).toHaveLength(1);
    const again = await ask(world, issue.number, '/patchfleet plan use better words');
    expect(again.answers[0]).toMatch(/Estimate: about [\d,]+ tokens.*: from what 2 rows of the same agents/);
    await assertStrict(world);
  });

  it('says why it is one subtask, as the fix of it does', async () => {
    const chain = [
      row('Sum better', 'src/add.js'),
      { ...row('Greet better', 'src/greet.js'), depends_on: [0] },
      { ...row('Tell of it', 'README.md'), depends_on: [1] },
    ];
    world.model.configure({ plans: [{ rows: chain }], fixes: [goodFixes.add] });
    const issue = await openIssue();
    const { answers } = await ask(world, issue.number, '/patchfleet plan\n/patchfleet fix');
    const [plan = '', fix = ''] = answers.toSorted((a) => (a.includes('The plan') ? -1 : 1));
    const why = 'Runs as one subtask: its rows depend on one another: 3 of 3 come one after the other.';
    expect(plan).toContain('**The plan: 1 subtask.**');
    expect(plan).toContain(why);
    expect(fix).toContain('1 of 1 subtask merged.');
    expect(fix).toContain(why);
    const pulls = await ownPulls(world);
    expect(pulls.at(-1)?.body ?? pulls[0]?.body).toContain(why);
    await assertStrict(world);
  });
});
