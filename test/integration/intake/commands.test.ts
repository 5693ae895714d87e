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

async function open(more: object = {}) {
  const repository = await world.repository();
  const pull = await world.github.openPullRequest(repository.fullName, {
    branch: 'work',
    files: { 'a.js': 'two\n' },
    ...more,
  });
  return {
    repository,
    pull,
    tasks: () => world.store.tasks.ofPull(repository.id, pull.number),
    async say(body: string, author = 'mona', type: 'User' | 'Bot' = 'User') {
      const comment = await world.github.comment(repository.fullName, pull.number, { author, body, type });
      const row = await world.admit(comment.delivery?.id ?? '');
      const replies = world.replies.filter((reply) => reply.commentId === comment.id);
      const reactions = world.reactions.filter((entry) => entry.endsWith(` ${comment.id}`));
      return { id: comment.id, row, replies, reactions };
    },
  };
}

describe('admission of commands', () => {
  it('makes a review of its own for each comment, of the current head, even of a draft', async () => {
    const { repository, pull, tasks, say } = await open({ draft: true });
    const first = await say('/patchfleet review');
    const second = await say('Again:\n\n@patchfleet review');
    expect((await tasks()).map((task) => [task.key, task.outcome, task.priority, task.trigger])).toEqual(
      [second, first].map(({ id, row }, index) => [
        `review:${repository.id}:${pull.number}:${pull.headSha}:${id}`,
        index === 0 ? null : 'superseded',
        10,
        { kind: 'command', name: 'review', actor: 'mona', deliveryId: row.id, commentId: id },
      ]),
    );
    expect([first.reactions, first.replies]).toEqual([[`eyes ${first.id}`], []]);
  });

  it('makes one review of a comment whose admission is repeated after a push', async () => {
    const { repository, pull, tasks, say } = await open();
    const { row } = await say('/patchfleet review');
    await world.github.pushToPullRequest(repository.fullName, pull.number, {
      files: { 'a.js': 'three\n' },
      message: 'more',
    });
    await world.database.pool.query(`update deliveries set status = 'received' where id = $1`, [row.id]);
    await world.admit(row.id);
    expect((await tasks()).map((task) => task.headSha)).toEqual([pull.headSha]);
  });

  it('answers status with a table of the newest tasks', async () => {
    const { pull, say } = await open();
    expect((await say('/patchfleet status')).replies[0]?.body).toBe('Nothing was asked for here yet.');
    await say('/patchfleet review');
    expect((await say('/patchfleet status')).replies[0]?.body).toMatch(
      new RegExp(
        `\\| review \\| \`${pull.headSha.slice(0, 12)}\` \\| planning \\|  \\| review by \`mona\` \\| `,
      ),
    );
  });

  it('cancels what is open, has its check run concluded, and says so again when it is repeated', async () => {
    const { pull, tasks, say } = await open();
    await say('/patchfleet review');
    const { row, replies, id } = await say('/patchfleet cancel');
    const [task] = await tasks();
    expect([task?.phase, task?.outcome, task?.failure]).toEqual([
      'publishing',
      'cancelled',
      { code: 'cancelled', detail: `mona cancelled it in comment ${id}` },
    ]);
    expect(world.asked.at(-1)).toBe(`publish ${task?.id}`);
    const text = `Cancelled the review of \`${pull.headSha.slice(0, 12)}\`.`;
    expect(replies.map((reply) => reply.body)).toEqual([text]);
    await world.database.pool.query(`update deliveries set status = 'received' where id = $1`, [row.id]);
    await world.admit(row.id);
    expect(world.replies.at(-1)?.body).toBe(text);
    expect((await say('/patchfleet cancel')).replies[0]?.body).toBe('There is nothing open to cancel.');
  });

  it('answers help, and an unknown command with the nearest one, in one comment', async () => {
    const { say } = await open();
    const { replies } = await say('/patchfleet help\n/patchfleet reveiw');
    expect(replies).toHaveLength(1);
    expect(replies[0]?.body).toContain('- `/patchfleet cancel`: stop what is still open here');
    expect(replies[0]?.body).toContain('There is no command `reveiw`. Did you mean `/patchfleet review`?');
  });

  it('says that a closed pull request is not reviewed', async () => {
    const { repository, pull, say, tasks } = await open();
    await world.github.updatePullRequest(repository.fullName, pull.number, { state: 'closed' });
    const { replies } = await say('/patchfleet review');
    expect(replies.map((reply) => reply.body)).toEqual(['No review: the pull request is closed.']);
    expect(await tasks()).toEqual([]);
  });

  it('says that an issue is not reviewed', async () => {
    const repository = await world.repository();
    const issue = await world.github.openIssue(repository.fullName, { title: 'Broken' });
    const comment = await world.github.comment(repository.fullName, issue.number, {
      author: 'mona',
      body: '/patchfleet review',
    });
    await world.admit(comment.delivery?.id ?? '');
    expect(world.replies.at(-1)).toEqual({
      issue: issue.number,
      commentId: comment.id,
      body: '`/patchfleet review` works on pull requests; this is an issue.',
    });
  });

  it('does nothing but a confused reaction and an audit entry for who may not write', async () => {
    const { say, tasks } = await open();
    const { id, row, replies, reactions } = await say('/patchfleet review', 'guest');
    expect([row.status, row.reason]).toEqual(['ignored', 'guest may not give commands: has read permission']);
    expect([replies, reactions, await tasks()]).toEqual([[], [`confused ${id}`], []]);
    const { rows } = await world.database.pool.query(
      `select actor, action, detail->>'level' as level from audit where detail->>'delivery' = $1`,
      [row.id],
    );
    expect(rows).toEqual([{ actor: 'guest', action: 'command.denied', level: 'read' }]);
  });

  it('never acts on the comments of bots, its own among them', async () => {
    const { say, tasks } = await open();
    const own = await say('/patchfleet review', `${world.github.app.slug}[bot]`, 'Bot');
    expect([own.row.status, own.row.reason, own.reactions]).toEqual(['ignored', 'a comment of this app', []]);
    const { row, reactions } = await say('/patchfleet review', 'other[bot]', 'Bot');
    expect([row.status, row.reason, reactions]).toEqual(['ignored', 'caused by the bot other[bot]', []]);
    expect(await tasks()).toEqual([]);
  });
});

describe('who may command', () => {
  const repositoryOf = async () => {
    const made = await world.repository();
    const name = made.fullName.split('/')[1] ?? '';
    const repository = { installationId: made.installationId, id: made.id, owner: 'octo', name };
    return { made, repository };
  };

  it('is decided by the level of permission that GitHub tells', async () => {
    const { made, repository } = await repositoryOf();
    const decided: Record<string, unknown> = {};
    for (const role of ['admin', 'maintain', 'write', 'triage', 'read'] as const) {
      await world.github.setPermission(made.fullName, `has-${role}`, role);
      const { allowed, level } = await world.app.github.mayCommand(repository, `has-${role}`, 'User');
      decided[role] = [allowed, level];
    }
    await world.github.addUser('stranger');
    const stranger = await world.app.github.mayCommand(repository, 'stranger', 'User');
    expect({ ...decided, stranger: stranger.allowed }).toEqual({
      admin: [true, 'admin'],
      maintain: [true, 'write'],
      write: [true, 'write'],
      triage: [false, 'read'],
      read: [false, 'read'],
      stranger: false,
    });
  });

  it.each([
    ['a user GitHub does not know', 'no-such-user', 'User', 'GitHub knows no such user or repository (404)'],
    ['an app', 'other[bot]', 'Bot', 'Bot accounts may not give commands'],
    ['a user who looks like an app', 'x[bot]', 'User', 'User accounts may not give commands'],
    ['an organisation', 'octo-org', 'Organization', 'Organization accounts may not give commands'],
  ])('%s may not', async (_name, login, type, reason) => {
    const { repository } = await repositoryOf();
    expect(await world.app.github.mayCommand(repository, login, type)).toEqual({
      allowed: false,
      level: null,
      reason,
    });
  });

  it.each([
    [500, /^the permission could not be read: /],
    [403, /^GitHub refused to tell the permission \(403\)/],
    [401, /^the permission could not be read: /],
  ])('nobody may when GitHub answers %i', async (status, reason) => {
    const { repository } = await repositoryOf();
    world.github.faults.failNext('/collaborators/{username}/permission', status, { times: 4 });
    const decision = await world.app.github.mayCommand(repository, 'mona', 'User');
    world.github.faults.failNext('never', 500);
    expect(decision).toEqual({ allowed: false, level: null, reason: expect.stringMatching(reason) });
    // What was not used up must not meet the next test.
    for (let i = 0; i < 4; i += 1) await world.app.github.mayCommand(repository, 'mona', 'User');
  });
});
