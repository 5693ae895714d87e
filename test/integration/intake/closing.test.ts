import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IntakeWorld, openIntakeWorld } from './intake-world.ts';

let world: IntakeWorld;
beforeAll(async () => {
  world = await openIntakeWorld();
});
afterAll(async () => {
  expect({ unexpected: world.github.unexpected, violations: world.github.violations }).toEqual({
    unexpected: [],
    violations: [],
  });
  await world.close();
});

/** A pull request or issue for which a review or fix is open. */
async function open(kind: 'pull request' | 'issue') {
  const { github } = world;
  const { fullName, id } = await world.repository();
  const subject =
    kind === 'issue'
      ? await github.openIssue(fullName, { title: 'Broken' })
      : await github.openPullRequest(fullName, { branch: 'change', files: { 'b.js': 'two\n' } });
  const asked = await github.comment(fullName, subject.number, {
    author: 'mona',
    body: kind === 'issue' ? '/patchfleet fix' : '/patchfleet review',
  });
  await world.admit(asked.delivery?.id ?? '');
  const tasks = async () =>
    (await world.store.tasks.ofPull(id, subject.number)).map(({ phase, outcome, failure }) => ({
      phase,
      outcome,
      detail: failure?.detail,
    }));
  expect(await tasks()).toEqual([{ phase: 'planning', outcome: null, detail: undefined }]);
  return { fullName, number: subject.number, tasks };
}

describe('closing', () => {
  it.each(['pull request', 'issue'] as const)('a %s cancels what is open for it, once', async (kind) => {
    const { fullName, number, tasks } = await open(kind);
    const close = kind === 'issue' ? world.github.closeIssue : world.github.closePullRequest;
    const delivery = await close(fullName, number, { sender: 'wilma' });
    world.asked.length = 0;
    expect(await world.admit(delivery?.id ?? '')).toMatchObject({ status: 'admitted' });
    expect(await tasks()).toEqual([
      { phase: 'publishing', outcome: 'cancelled', detail: `wilma closed the ${kind}` },
    ]);
    expect(world.asked).toEqual([expect.stringMatching(/^publish /)]);
    expect(await world.readmit(delivery?.id ?? '')).toMatchObject({
      status: 'ignored',
      reason: 'nothing is open for it',
    });
  });

  it('that is told late, when it is open again, cancels nothing', async () => {
    const { fullName, number, tasks } = await open('pull request');
    const delivery = await world.github.closePullRequest(fullName, number);
    await world.github.updatePullRequest(fullName, number, { state: 'open' });
    expect(await world.admit(delivery?.id ?? '')).toMatchObject({
      status: 'ignored',
      reason: 'it is open again',
    });
    expect(await tasks()).toMatchObject([{ phase: 'planning', outcome: null }]);
  });
});
