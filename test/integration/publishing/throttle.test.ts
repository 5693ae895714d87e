import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChangeFixture } from './change-fixture.ts';
import { type Fixture, finding, openFixture, repoName } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture({ updateMs: 60_000 });
});
afterAll(() => fixture?.close());

describe('updates of a running check run', () => {
  it('wait for their time, asked of the queue; the conclusion does not wait', async () => {
    const { double, enqueued, signal } = fixture;
    const publisher = fixture.replica();
    const pull = await fixture.openPull();
    const task = await fixture.addTask(pull);
    await publisher.publish(task.id, signal);
    const created = double.writes().length;
    await publisher.publish(task.id, signal);
    expect(enqueued).toEqual([]);

    await fixture.plan(task, 1);
    await publisher.publish(task.id, signal);
    expect(double.writes().length).toBe(created);
    const [asked, ...more] = enqueued;
    expect(more).toEqual([]);
    expect(asked).toMatchObject({ kind: 'publish', id: task.id, options: { priority: 20 } });
    const delay = asked?.options?.delayMs ?? 0;
    expect(delay).toBeGreaterThan(30_000);
    expect(delay).toBeLessThanOrEqual(60_000);

    await fixture.finishShard(task, 0, [finding(1)]);
    await fixture.settle(task, 'succeeded');
    await publisher.publish(task.id, signal);
    const [run] = await double.checkRuns(repoName);
    expect([run?.status, run?.conclusion]).toEqual(['completed', 'success']);
    expect(enqueued.length).toBe(1);
  });
});

describe('reactions and replies', () => {
  const repository = () => ({
    installationId: fixture.repository.installationId,
    id: fixture.repository.id,
    owner: 'octo',
    name: 'shop',
  });

  it('are made once, and a reply is updated in place', async () => {
    const { double } = fixture;
    const pull = await fixture.openPull();
    const { id } = await double.comment(repoName, pull.number, { author: 'mona', body: '/patchfleet help' });
    const publisher = fixture.replica();
    const before = double.writes().length;
    await publisher.react(repository(), id, 'eyes');
    await publisher.react(repository(), id, 'eyes');
    await publisher.reply(repository(), pull.number, id, 'One moment.');
    await publisher.reply(repository(), pull.number, id, 'One moment.');
    await publisher.reply(repository(), pull.number, id, 'Here you are.');
    expect(double.writes().length - before).toBe(3);
    expect((await double.reactions(id)).map((reaction) => reaction.content)).toEqual(['eyes']);
    const ours = (await double.comments(repoName, pull.number)).filter((c) => c.author.type === 'Bot');
    expect(ours.map((c) => c.body)).toEqual([`<!-- patchfleet:reply:${id} -->\nHere you are.`]);
  });

  it('on a comment that is gone are given up, not tried for ever', async () => {
    const { double, store } = fixture;
    const publisher = fixture.replica();
    await publisher.react(repository(), 999_999, 'eyes');
    const asked = double.journal.length;
    await publisher.react(repository(), 999_999, 'eyes');
    expect(double.journal.length).toBe(asked);
    expect((await store.publications.get('reaction:999999'))?.status).toBe('failed');
  });
});

describe('the comment of a running change', () => {
  it('waits for its time, asked of the queue; the result does not wait', async () => {
    const changes = await openChangeFixture({ updateMs: 60_000 });
    try {
      const { double, enqueued } = changes;
      const task = await changes.commanded();
      await changes.publish(task);
      await changes.plan(task, [null]);
      await changes.finishRow(task, 0, {});
      const writes = double.writes().length;
      await changes.publish(task);
      expect(double.writes().length).toBe(writes);
      expect(enqueued.map(({ kind, id }) => [kind, id])).toEqual([['publish', task.id]]);
      expect(enqueued[0]?.options?.delayMs).toBeGreaterThan(30_000);
      await changes.integrate(task, 1, {});
      await changes.settle(task);
      await changes.publish(task);
      expect(await changes.ours(task.number)).toEqual([expect.stringContaining('nothing to change')]);
      expect(enqueued.length).toBe(1);
    } finally {
      await changes.close();
    }
  });
});
