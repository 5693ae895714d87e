import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '../../../src/store/port.ts';
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

async function open(files: Record<string, string> = {}) {
  const repository = await world.repository(files);
  const { fullName } = repository;
  return {
    repository,
    fullName,
    tasks: (number: number) => world.store.tasks.ofPull(repository.id, number),
    issue: (title = 'Broken', more: object = {}) =>
      world.github.openIssue(fullName, { title, body: 'Line two', ...more }),
    async say(number: number, body: string, author = 'mona') {
      const comment = await world.github.comment(fullName, number, { author, body });
      const row = await world.admit(comment.delivery?.id ?? '');
      const replies = world.replies.filter((reply) => reply.commentId === comment.id);
      return { id: comment.id, row, replies: replies.map((reply) => reply.body) };
    },
    async label(number: number, name: string, sender = 'mona') {
      const delivery = await world.github.addLabel(fullName, number, name, { sender });
      return await world.admit(delivery?.id ?? '');
    },
  };
}

/** The columns that say what is to be done, where. */
const shape = (task: Task | undefined) => {
  if (task === undefined) return undefined;
  const { kind, key, phase, subject, number, title, body, instruction, headSha, baseSha, baseRef } = task;
  const { targetRef, fork, priority, issues, startAfter } = task;
  const what = { kind, key, phase, subject, number, title, body, instruction, issues };
  return { ...what, headSha, baseSha, baseRef, targetRef, fork, priority, isHeld: startAfter !== null };
};

describe('a fix by command', () => {
  it('of an issue is for the default branch, and is what the issue says or what the comment says', async () => {
    const { repository, issue, say, tasks } = await open();
    const { number } = await issue();
    const first = await say(number, '/patchfleet fix');
    const second = await say(number, '/patchfleet fix the tests\n/patchfleet fix the docs');
    await world.readmit(second.row.id);
    const expected = {
      kind: 'fix',
      phase: 'planning',
      subject: 'issue',
      number,
      title: 'Broken',
      body: 'Line two',
      issues: [],
      headSha: repository.headSha,
      baseSha: repository.headSha,
      baseRef: 'main',
      targetRef: 'main',
      fork: false,
      priority: 10,
      isHeld: false,
    };
    const key = `fix:${repository.id}:${number}:`;
    expect((await tasks(number)).map(shape)).toEqual([
      { ...expected, key: `${key}${second.id}`, instruction: 'the tests\nthe docs' },
      { ...expected, key: `${key}${first.id}`, instruction: 'Broken\n\nLine two' },
    ]);
    expect([first.replies, second.replies]).toEqual([[], []]);
    const [task] = await tasks(number);
    expect(world.asked.filter((entry) => entry === `plan ${task?.id}`)).toHaveLength(2);
    expect(world.asked).toContain(`publish ${task?.id}`);
  });

  it('of a pull request is for its branch, and of one from a fork says so', async () => {
    const { repository, fullName, say, tasks } = await open();
    const own = await world.github.openPullRequest(fullName, { branch: 'work', files: { 'a.js': 'two\n' } });
    const other = await world.github.openPullRequest(fullName, {
      branch: 'theirs',
      files: { 'a.js': 'three\n' },
      fork: 'guest',
    });
    await say(own.number, '/patchfleet fix it');
    await say(other.number, '/patchfleet fix it');
    const [[mine], [theirs]] = [await tasks(own.number), await tasks(other.number)];
    const places = [mine, theirs].map((task) => [
      task?.subject,
      task?.headSha,
      task?.baseSha,
      task?.baseRef,
      task?.targetRef,
      task?.fork,
    ]);
    expect(places).toEqual([
      ['pull_request', own.headSha, repository.headSha, 'main', 'work', false],
      ['pull_request', other.headSha, repository.headSha, 'main', 'theirs', true],
    ]);
  });

  it('without words is of what the last review found, and says so where that is nothing', async () => {
    const { fullName, say, tasks } = await open();
    const { number } = await world.github.openPullRequest(fullName, {
      branch: 'w',
      files: { 'a.js': '2\n' },
    });
    const none = await say(number, '/patchfleet fix');
    expect(none.replies).toEqual(['No fix: there was no review yet; say what is to be fixed.']);
    await say(number, '/patchfleet review');
    const running = await say(number, '/patchfleet fix');
    expect(running.replies).toEqual(['No fix: the review is not over yet; say what is to be fixed.']);
    const [review] = await tasks(number);
    await world.store.tasks.settle(review?.id ?? '', 'succeeded', null);
    const empty = await say(number, '/patchfleet fix');
    expect(empty.replies).toEqual(['No fix: the last review found nothing; say what is to be fixed.']);
    const insert = `insert into subtasks (id, task_id, row, title, agent, matrix, complexity)
      values (gen_random_uuid(), $1, 0, '', 'a', '{}', 1) returning id`;
    const { rows } = await world.database.pool.query(insert, [review?.id]);
    await world.database.pool.query(
      `insert into findings (id, task_id, subtask_id, position, agent, fingerprint, path, side, start_line,
        end_line, severity, confidence, rule, title, body, quote)
        values (gen_random_uuid(), $1, $2, 0, 'a', 'f', 'a.js', 'RIGHT', 1, 2, 'error', 1, '', 'Wrong', 'Why', '')`,
      [review?.id, rows[0].id],
    );
    await say(number, '/patchfleet fix');
    expect((await tasks(number))[0]?.instruction).toBe(
      'Fix what the last review found.\n\n- a.js:1-2: Wrong\nWhy',
    );
  });

  it('can be planned only, beside the fix of the same comment', async () => {
    const { repository, issue, say, tasks } = await open();
    const { number } = await issue();
    const { id, row, replies } = await say(
      number,
      '/patchfleet plan this\n/patchfleet fix\n/patchfleet plan that',
    );
    expect([row.status, replies]).toEqual(['admitted', []]);
    await world.readmit(row.id);
    const made = (await tasks(number)).map((task) => [task.kind, task.planOnly, task.key, task.instruction]);
    expect(made.toSorted()).toEqual([
      ['fix', false, `fix:${repository.id}:${number}:${id}`, expect.any(String)],
      ['fix', true, `plan:${repository.id}:${number}:${id}`, 'this\nthat'],
    ]);
    expect((await say(number, '/patchfleet status')).replies[0]).toContain('| plan | ');
    expect((await say(number, '/patchfleet cancel')).replies[0]).toMatch(
      /^Cancelled the (fix|plan) of `mona` on `\w+` and the (fix|plan) of `mona` on `\w+`\.$/,
    );
  });

  it.each([
    ['a closed issue', {}, true, 'No fix: the issue is closed.'],
    [
      'a repository that turned fixes off',
      { '.github/patchfleet.yml': 'fix: {enabled: false}' },
      false,
      'No fix: `fix.enabled` is false in the repository file.',
    ],
  ])('of %s is none, and the answer says why', async (_name, files, closed, answer) => {
    const { fullName, issue, say, tasks } = await open(files);
    const { number } = await issue();
    if (closed) await world.github.closeIssue(fullName, number);
    expect((await say(number, '/patchfleet fix')).replies).toEqual([answer]);
    expect(await tasks(number)).toEqual([]);
  });

  it('with a broken repository file is a failed task that says what is wrong', async () => {
    const { issue, say, tasks } = await open({ '.github/patchfleet.yml': 'fix: {agents: [lint]}' });
    const { number } = await issue();
    await say(number, '/patchfleet fix');
    expect((await tasks(number)).map((task) => [task.phase, task.outcome, task.failure])).toEqual([
      [
        'publishing',
        'failed',
        {
          code: 'config_invalid',
          detail:
            '.github/patchfleet.yml:1: `fix.agents[0]`: the agent `lint` is no model agent. Valid: Known model agents: writer',
        },
      ],
    ]);
  });
});

describe('an approval', () => {
  it('is what the fix of an author without write permission waits for', async () => {
    const { issue, say, tasks } = await open();
    const { number } = await issue('Mine', { author: 'guest' });
    const { id, row } = await say(number, '/patchfleet fix please\n/patchfleet cancel', 'guest');
    expect([row.status, row.reason]).toEqual(['admitted', 'waits for an approval']);
    const [task] = await tasks(number);
    expect([task?.phase, task?.instruction, task?.startAfter]).toEqual(['held', 'please', null]);
    expect(world.published).toEqual([task?.id]);
    expect(world.reactions).toContain(`eyes ${id}`);
    expect(world.asked).not.toContain(`plan ${task?.id}`);
    expect(await world.store.tasks.beginPlanning(task?.id ?? '')).toBeNull();
    expect((await say(number, '/patchfleet approve', 'guest')).row.status).toBe('ignored');
    expect((await say(number, '/patchfleet status')).replies[0]).toContain('waits for an approval');
    const head = task?.headSha.slice(0, 12);
    const { replies } = await say(number, '/patchfleet approve');
    expect(replies).toEqual([`Approved the fix of \`guest\` on \`${head}\`.`]);
    expect((await tasks(number))[0]?.phase).toBe('planning');
    expect(world.asked).toEqual(expect.arrayContaining([`plan ${task?.id}`, `publish ${task?.id}`]));
    expect((await say(number, '/patchfleet approve')).replies).toEqual([
      'Nothing waits for an approval here.',
    ]);
  });

  it('is what a plan of the same author waits for, too', async () => {
    const { issue, say, tasks } = await open();
    const { number } = await issue('Mine', { author: 'guest' });
    await say(number, '/patchfleet plan please', 'guest');
    const [task] = await tasks(number);
    expect([task?.phase, task?.planOnly, task?.instruction]).toEqual(['held', true, 'please']);
    const { replies } = await say(number, '/patchfleet approve');
    expect(replies).toEqual([`Approved the plan of \`guest\` on \`${task?.headSha.slice(0, 12)}\`.`]);
    expect((await tasks(number))[0]?.phase).toBe('planning');
  });

  it('can be had for a pull request from a fork, with the head that was there when it was asked', async () => {
    const { fullName, say, tasks } = await open();
    const pull = { branch: 'p', files: { 'a.js': '2\n' }, fork: 'guest' };
    const { number, headSha } = await world.github.openPullRequest(fullName, pull);
    await say(number, '/patchfleet fix it', 'guest');
    const more = { files: { 'a.js': '3\n' }, message: 'more' };
    await world.github.pushToPullRequest(fullName, number, more);
    await say(number, '/patchfleet approve');
    expect((await tasks(number)).map((task) => [task.phase, task.headSha, task.fork])).toEqual([
      ['planning', headSha, true],
    ]);
  });

  it('is not waited for by whoever is not the author, and by nobody more than three times', async () => {
    const { repository, issue, say, tasks } = await open();
    const other = await issue('Theirs', { author: 'tri' });
    const denied = await say(other.number, '/patchfleet fix', 'guest');
    expect([denied.row.status, denied.row.reason]).toEqual([
      'ignored',
      'guest may not give commands: has read permission; guest did not open it',
    ]);
    const { number } = await issue('Mine', { author: 'guest' });
    for (const what of ['a', 'b', 'c', 'd']) await say(number, `/patchfleet fix ${what}`, 'guest');
    expect((await tasks(number)).map((task) => task.instruction)).toEqual(['c', 'b', 'a']);
    const { rows } = await world.database.pool.query(
      `select action, detail->>'reason' as reason from audit where subject = $1 order by at desc limit 1`,
      [`${repository.fullName}#${number}`],
    );
    expect(rows).toEqual([
      {
        action: 'command.denied',
        reason: 'has read permission; 3 requests of guest wait for an approval already',
      },
    ]);
    expect((await say(number, '/patchfleet cancel')).replies[0]).toMatch(/^Cancelled the fix of `guest` on/);
    expect(await world.store.tasks.heldIn(repository.id)).toEqual([]);
  });
});

describe('the label patchfleet:fix', () => {
  it('asks for a fix of the issue, put by somebody with triage permission, once for one event', async () => {
    const { repository, issue, label, tasks } = await open();
    const { number } = await issue();
    const row = await label(number, 'patchfleet:fix', 'tri');
    await world.readmit(row.id);
    const { updated_at: at } = JSON.parse(row.body).issue;
    expect((await tasks(number)).map((task) => [task.key, task.instruction, task.trigger])).toEqual([
      [
        `fix:${repository.id}:${number}:label:${at}`,
        'Broken\n\nLine two',
        { kind: 'label', name: 'labeled', actor: 'tri', deliveryId: row.id, commentId: null },
      ],
    ]);
  });

  it('is a gate: who may not label asks for nothing, and neither does anybody when GitHub cannot tell', async () => {
    const { issue, label, tasks } = await open();
    const { number } = await issue();
    const denied = await label(number, 'patchfleet:fix', 'guest');
    expect([denied.status, denied.reason]).toEqual(['ignored', 'guest may not label: has read permission']);
    world.github.faults.failNext('/collaborators/{username}/permission', 403);
    const again = await world.readmit(denied.id);
    expect(again.reason).toBe('guest may not label: GitHub refused to tell the permission (403)');
    expect(await tasks(number)).toEqual([]);
  });

  it('of an issue is of the words that were there, not of what its author made of them since', async () => {
    const { fullName, issue, tasks } = await open();
    const { number } = await issue('Mine', { author: 'guest' });
    const delivery = await world.github.addLabel(fullName, number, 'patchfleet:fix', { sender: 'mona' });
    await world.github.editIssue(fullName, number, { title: 'Other', body: 'Do harm', sender: 'guest' });
    await world.admit(delivery?.id ?? '');
    expect((await tasks(number))[0]).toMatchObject({ title: 'Mine', instruction: 'Mine\n\nLine two' });
  });

  it('of a pull request is of the head that was seen, not of what was pushed since', async () => {
    const { fullName, tasks, say } = await open();
    const pull = { branch: 'p', files: { 'a.js': '2\n' } };
    const { number, headSha } = await world.github.openPullRequest(fullName, pull);
    await say(number, '/patchfleet review');
    const [review] = await tasks(number);
    await world.database.pool.query(`update tasks set outcome = 'succeeded' where id = $1`, [review?.id]);
    const delivery = await world.github.addLabel(fullName, number, 'patchfleet:fix', { sender: 'mona' });
    await world.github.pushToPullRequest(fullName, number, { files: { 'a.js': '3\n' }, message: 'more' });
    const row = await world.admit(delivery?.id ?? '');
    expect(row.reason).toBe('the last review found nothing; say what is to be fixed');
    await world.github.commit(fullName, { branch: 'main', files: { '.github/patchfleet.yml': 'fix: 1' } });
    await world.readmit(row.id);
    expect((await tasks(number))[0]).toMatchObject({ kind: 'fix', headSha });
  });
});
