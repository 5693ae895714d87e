import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, ownComments, tasksOf } from '../support/app/ask.ts';
import { assertStrict } from '../support/app/assert-strict.ts';
import { smallRepository } from '../support/app/small-repository.ts';
import { untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';

const file = 'triage:\n  on_open: true\n  labels: [bug, question]\n';
const long = 'It is about the sum of two numbers, which is wrong for all of them.';

let world: World;

beforeAll(async () => {
  world = await startWorld({ files: { ...smallRepository, '.github/patchfleet.yml': file } });
  await world.github.setPermission(world.repository, 'wilma', 'write');
});
afterAll(() => world.close());

async function openIssue(title: string, body: string) {
  const { number } = await world.github.openIssue(world.repository, { title, body, author: 'otto' });
  await untilIdle(world);
  return number;
}

describe('a new issue', () => {
  it('gets labels of the list alone, and is asked once for what is missing', async () => {
    world.model.configure({
      triages: [
        {
          labels: ['bug', 'enhancement', 'patchfleet:done'],
          question: 'Which numbers are it?',
          summary: 'A bug.',
        },
      ],
    });
    const number = await openIssue('The sum is wrong', 'Wrong.');
    expect(await world.github.labels(world.repository, number)).toEqual(['bug']);
    const [comment, ...others] = await ownComments(world, number);
    expect(others).toEqual([]);
    expect(comment).toContain('**Something is missing**\n\nWhich numbers are it?');

    // Again: labels are added to what is there, and the one comment is kept.
    world.model.configure({ triages: [{ labels: ['question'], question: 'And which now?' }] });
    const asked = await ask(world, number, '/patchfleet triage');
    expect(asked).toEqual({ reactions: ['eyes'], answers: [] });
    expect(await ownComments(world, number)).toHaveLength(1);
    expect(await world.github.labels(world.repository, number)).toEqual(['bug', 'question']);
    await assertStrict(world);
  });

  it('that says what another says is told so, and not closed', async () => {
    world.model.configure({});
    const number = await openIssue('The sum is wrong', long);
    const [comment] = await ownComments(world, number);
    expect(comment).toContain('Seems to say the same as #1. Nothing was closed');
    expect(comment).not.toContain('Something is missing');
    const states = (await world.github.issues(world.repository)).map(({ state }) => state);
    expect(states).toEqual(['open', 'open']);
    expect(await tasksOf(world, 'triage')).toHaveLength(3);
    await assertStrict(world);
  });
});
