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

const file = '.github/patchfleet.yml';

async function open(config = '') {
  const repository = await world.repository(config === '' ? {} : { [file]: config });
  const { fullName } = repository;
  return {
    repository,
    fullName,
    tasks: (number: number) => world.store.tasks.ofPull(repository.id, number),
    async issue(title: string, more: object = {}) {
      const { number, delivery } = await world.github.openIssue(fullName, { title, body: 'Why', ...more });
      return { number, delivery: delivery?.id ?? '' };
    },
    async say(number: number, body: string) {
      const comment = await world.github.comment(fullName, number, { author: 'mona', body });
      const row = await world.admit(comment.delivery?.id ?? '');
      const replies = world.replies.filter((reply) => reply.commentId === comment.id);
      return { id: comment.id, row, replies: replies.map((reply) => reply.body) };
    },
    async label(number: number, sender = 'mona') {
      const delivery = await world.github.addLabel(fullName, number, 'patchfleet:batch', { sender });
      return await world.admit(delivery?.id ?? '');
    },
    async push(files: Record<string, string>, more: object = {}) {
      const pushed = await world.github.push(fullName, { branch: 'main', files, ...more });
      return { ...pushed, row: await world.admit(pushed.delivery?.id ?? '') };
    },
  };
}

describe('the label patchfleet:batch', () => {
  it('gathers issues into one batch that begins when it was quiet, each issue once', async () => {
    const { repository, issue, label, say } = await open('batch: {quiet_seconds: 40}');
    const [one, two] = [await issue('One'), await issue('Two')];
    const { rows: before } = await world.database.pool.query<{ now: Date }>(
      `select statement_timestamp() as now`,
    );
    const first = await label(two.number);
    const second = await label(one.number, 'tri');
    await world.readmit(first.id);
    const batches = await world.store.tasks.ofPull(repository.id, one.number);
    const { updated_at: at } = JSON.parse(first.body).issue;
    expect(batches).toMatchObject([
      {
        kind: 'batch',
        key: `batch:${repository.id}:${two.number}:label:${at}`,
        phase: 'held',
        subject: 'issue',
        number: two.number,
        issues: [
          { number: one.number, title: 'One', body: 'Why' },
          { number: two.number, title: 'Two', body: 'Why' },
        ],
        headSha: repository.headSha,
        targetRef: 'main',
        priority: 30,
        trigger: { kind: 'label', actor: 'mona' },
      },
    ]);
    const id = batches[0]?.id ?? '';
    expect(batches[0]?.startAfter?.getTime()).toBeGreaterThanOrEqual(
      (before[0]?.now.getTime() ?? Infinity) + 40_000,
    );
    expect(world.asked.filter((entry) => entry === `plan ${id} in 40000 ms`)).toHaveLength(3);
    expect(await world.store.tasks.beginPlanning(id)).toBeNull();
    expect((await say(two.number, '/patchfleet status')).replies[0]).toContain('gathers issues');
    expect((await say(one.number, '/patchfleet approve')).replies).toEqual([
      'Nothing waits for an approval here.',
    ]);

    await world.database.pool.query(`update tasks set start_after = now() where id = $1`, [id]);
    expect(await world.store.tasks.releaseDue()).toEqual([{ id, priority: 30 }]);
    await world.store.tasks.settle(id, 'succeeded', null);
    await world.store.tasks.finish(id);
    // The same events again are not a second wish.
    const repeated = await world.readmit(second.id);
    expect([repeated.status, repeated.reason]).toEqual(['ignored', 'the issue is in a batch already']);
    expect(await world.store.tasks.ofPull(repository.id, one.number)).toHaveLength(1);
  });

  it('is ignored on an issue that was closed meanwhile, and of who may not label', async () => {
    const { fullName, issue, label, tasks } = await open();
    const { number } = await issue('One');
    expect((await label(number, 'guest')).reason).toBe('guest may not label: has read permission');
    await world.github.removeLabel(fullName, number, 'patchfleet:batch');
    const delivery = await world.github.addLabel(fullName, number, 'patchfleet:batch', {});
    await world.github.closeIssue(fullName, number);
    expect((await world.admit(delivery?.id ?? '')).reason).toBe('the issue is closed');
    expect(await tasks(number)).toEqual([]);
  });

  it('with a broken repository file is a failed task that says so', async () => {
    const { issue, label, tasks } = await open('batch: 1');
    const { number } = await issue('One');
    await label(number);
    expect(await tasks(number)).toMatchObject([
      { kind: 'batch', phase: 'publishing', failure: { code: 'config_invalid' }, issues: [{ number }] },
    ]);
  });
});

describe('a batch by command', () => {
  it('takes the open issues with the label that are in no batch, the oldest first', async () => {
    const { repository, fullName, issue, say, tasks } = await open('batch: {max_issues: 2}');
    const labels = { labels: ['good first issue'] };
    const made = [];
    for (const title of ['One', 'Two', 'Three', 'Closed']) made.push((await issue(title, labels)).number);
    const [one = 0, two = 0, , closed = 0] = made;
    await world.github.closeIssue(fullName, closed);
    const place = (await issue('Talk')).number;
    const { id, row, replies } = await say(place, '/patchfleet batch label:"good first issue"');
    await world.readmit(row.id);
    expect(replies).toEqual([]);
    expect(await tasks(place)).toMatchObject([
      {
        kind: 'batch',
        key: `batch:${repository.id}:${place}:${id}`,
        phase: 'planning',
        number: place,
        title: 'Issues labelled `good first issue` (the first 2; ask again for the rest)',
        issues: [
          { number: one, title: 'One', body: 'Why' },
          { number: two, title: 'Two', body: 'Why' },
        ],
        priority: 30,
      },
    ]);
    const again = await say(place, `/patchfleet batch label:'good first issue'`);
    expect(again.replies).toEqual(['No batch: these issues are in a batch already.']);
    expect((await say(one, '/patchfleet cancel')).replies).toEqual(['Cancelled the batch of 2 issues.']);
  });

  it.each([
    ['/patchfleet batch', 'Say which issues: `/patchfleet batch label:NAME`.'],
    ['/patchfleet batch bug', 'Say which issues: `/patchfleet batch label:NAME`.'],
    ['/patchfleet batch label:wontfix', 'No batch: no open issue has the label `wontfix`.'],
  ])('%s is answered with what is wrong', async (body, answer) => {
    const { issue, say, tasks } = await open();
    const { number } = await issue('One');
    expect((await say(number, body)).replies).toEqual([answer]);
    expect(await tasks(number)).toEqual([]);
  });
});

describe('triage', () => {
  it('of a new issue is done where the default branch asks for it', async () => {
    const { repository, issue, tasks } = await open('triage: {on_open: true}');
    const { number, delivery } = await issue('New', { author: 'guest' });
    await world.admit(delivery);
    await world.readmit(delivery);
    expect(await tasks(number)).toMatchObject([
      {
        kind: 'triage',
        key: `triage:${repository.id}:${number}:opened`,
        phase: 'planning',
        subject: 'issue',
        title: 'New',
        headSha: repository.headSha,
        targetRef: '',
        priority: 20,
        trigger: { kind: 'issue', name: 'opened', actor: 'guest', commentId: null },
      },
    ]);
  });

  it('by rules alone is done at once: nothing is planned or run', async () => {
    const { issue, say, tasks } = await open('triage: {on_open: true, agent: none}');
    const { number, delivery } = await issue('New', { author: 'guest' });
    await world.admit(delivery);
    await say(number, '/patchfleet triage');
    const made = await tasks(number);
    expect(made.map(({ phase, outcome, failure }) => [phase, outcome, failure])).toEqual([
      ['publishing', 'succeeded', null],
      ['publishing', 'succeeded', null],
    ]);
    for (const { id } of made) {
      expect(world.asked).toContain(`publish ${id}`);
      expect(world.asked).not.toContain(`plan ${id}`);
    }
  });

  it('of a new issue is not done unasked, but by command', async () => {
    const { repository, fullName, issue, say, tasks } = await open();
    const { number, delivery } = await issue('New');
    expect((await world.admit(delivery)).reason).toBe('triage.on_open is false');
    const { id } = await say(number, '/patchfleet triage');
    expect(await tasks(number)).toMatchObject([
      { kind: 'triage', key: `triage:${repository.id}:${number}:${id}`, priority: 10 },
    ]);
    const pull = await world.github.openPullRequest(fullName, { branch: 'p', files: { 'a.js': '2\n' } });
    expect((await say(pull.number, '/patchfleet triage')).replies).toEqual([
      '`/patchfleet triage` works on issues; this is a pull request.',
    ]);
  });
});

const campaign = 'campaigns: [{name: docs, branch: main, instruction: Update the docs}]';

describe('a push', () => {
  it('starts the campaigns of its branch, once for one head, on the head that the branch has now', async () => {
    const { repository, fullName, push, tasks } = await open();
    const early = await push({ 'b.js': '1\n' });
    expect(early.row.reason).toBe('no campaign is started by a push to main');
    const named = await push({ [file]: campaign });
    await world.readmit(named.row.id);
    const next = await world.github.push(fullName, { branch: 'main', files: { 'c.js': '1\n' } });
    const last = await world.github.push(fullName, { branch: 'main', files: { 'd.js': '1\n' } });
    await world.admit(next.delivery?.id ?? '');
    const row = await world.admit(last.delivery?.id ?? '');
    expect(row.reason).toBe('the campaigns of main work on its head already');
    const [second, first] = await tasks(0);
    expect(first).toMatchObject({
      kind: 'campaign',
      key: `campaign:${repository.id}:docs:${named.sha}`,
      phase: 'planning',
      subject: 'branch',
      number: 0,
      headSha: named.sha,
      baseRef: 'main',
      targetRef: 'main',
      instruction: 'Update the docs',
      priority: 30,
      trigger: { kind: 'push', name: 'docs', actor: 'mona' },
    });
    expect([second?.key, second?.headSha]).toEqual([`campaign:${repository.id}:docs:${next.sha}`, last.sha]);
  });

  it('to another branch reads the file of the default branch, and our own work starts nothing', async () => {
    const { push, tasks } = await open('campaigns: [{name: docs, branch: next, instruction: x}]');
    const theirs = await push({ [file]: campaign }, { branch: 'other' });
    expect(theirs.row.reason).toBe('no campaign is started by a push to other');
    const own = await push({ 'b.js': '1\n' }, { branch: 'next', message: 'Fix\n\nPatchfleet-Task: x' });
    expect(own.row.reason).toBe('a push of our own work');
    const more = await push({ 'c.js': '1\n' }, { branch: 'next' });
    expect((await tasks(0)).map((task) => [task.targetRef, task.headSha])).toEqual([['next', more.sha]]);
  });
});

describe('checks of a pull request that a task made', () => {
  async function made() {
    const world2 = await open();
    const { number } = await world2.issue('One');
    await world2.say(number, '/patchfleet fix');
    const [task] = await world2.tasks(number);
    return { ...world2, task, ...(await pullOf(world2.fullName, task?.id ?? '')) };
  }
  async function pullOf(fullName: string, taskId: string) {
    const branch = `patchfleet/${taskId}`;
    const pull = await world.github.openPullRequest(fullName, {
      branch,
      files: { 'a.js': `${taskId}\n` },
      title: 'The fix',
      draft: true,
    });
    return { branch, pull };
  }

  it('are told there when they fail, and repaired once, when the last of them has ended', async () => {
    const { repository, fullName, task, branch, pull, tasks } = await made();
    const { headSha } = pull;
    const taskId = task?.id ?? '';
    const on = { headSha, appId: 77 };
    await world.github.addCheckRun(fullName, { ...on, name: 'slow' });
    const red = await world.github.addCheckRun(fullName, { ...on, name: 'unit', conclusion: 'failure' });
    expect((await world.admit(red.delivery?.id ?? '')).reason).toBe('other checks have not ended');
    expect(await tasks(pull.number)).toEqual([]);
    const ended = await world.github.completeCheckSuite(fullName, { ...on, conclusion: 'timed_out' });
    await world.admit(ended?.id ?? '');
    await world.readmit(red.delivery?.id ?? '');
    const report = { taskId, pull: pull.number, headSha };
    expect(world.reports).toEqual([
      { ...report, failing: ['unit'] },
      { ...report, failing: ['slow', 'unit'] },
      { ...report, failing: ['slow', 'unit'] },
    ]);
    const repairs = await tasks(pull.number);
    expect(repairs).toMatchObject([
      {
        kind: 'fix',
        key: `repair:${taskId}`,
        phase: 'planning',
        subject: 'pull_request',
        title: 'The fix',
        instruction: `These checks of pull request #${pull.number} fail. Make them pass without weakening them:\n- slow\n- unit`,
        headSha,
        baseSha: repository.headSha,
        baseRef: 'main',
        targetRef: branch,
        fork: false,
        priority: 20,
      },
    ]);

    const repair = await pullOf(fullName, repairs[0]?.id ?? '');
    const next = { headSha: repair.pull.headSha, name: 'unit', conclusion: 'failure' };
    const again = await world.github.addCheckRun(fullName, next);
    expect((await world.admit(again.delivery?.id ?? '')).reason).toBe('a repair is not repaired');
    expect(await tasks(repair.pull.number)).toEqual([]);
  });

  it('are left alone where they are of an older head, of a closed pull request, or of no task', async () => {
    const { fullName, pull } = await made();
    const run = { headSha: pull.headSha, name: 'unit', conclusion: 'failure' };
    const { delivery } = await world.github.addCheckRun(fullName, run);
    const more = { files: { 'a.js': '9\n' }, message: 'more' };
    await world.github.pushToPullRequest(fullName, pull.number, more);
    expect((await world.admit(delivery?.id ?? '')).reason).toBe('the checks are of an older head');
    await world.github.closePullRequest(fullName, pull.number);
    expect((await world.readmit(delivery?.id ?? '')).reason).toBe('no open pull request has that branch');
    const nobody = await pullOf(fullName, '0b5e0a0e-3f0f-4c37-9a51-1f6b1b0a9c11');
    const other = await world.github.addCheckRun(fullName, { ...run, headSha: nobody.pull.headSha });
    expect((await world.admit(other.delivery?.id ?? '')).reason).toBe('no task has that branch');
  });
});
