import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
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

afterEach(() => {
  world.clock.at = null;
});

let branches = 0;
async function open(files: Record<string, string> = {}, more: object = {}) {
  const repository = await world.repository(files);
  branches += 1;
  const pull = await world.github.openPullRequest(repository.fullName, {
    branch: `b${branches}`,
    files: { 'a.js': 'two\n' },
    title: 'A change',
    body: 'Why',
    ...more,
  });
  const delivery = pull.delivery?.id ?? '';
  return { repository, pull, delivery, tasks: () => world.store.tasks.ofPull(repository.id, pull.number) };
}

describe('admission of pull request events', () => {
  it('makes one review of the current head, frozen, and asks for its plan and its check run', async () => {
    const { repository, pull, delivery, tasks } = await open();
    const row = await world.admit(delivery);
    expect([row.status, row.reason, row.attempts]).toEqual(['admitted', null, 1]);
    const [task, ...others] = await tasks();
    expect(others).toEqual([]);
    expect(task).toMatchObject({
      kind: 'review',
      key: `review:${repository.id}:${pull.number}:${pull.headSha}`,
      phase: 'planning',
      installationId: repository.installationId,
      owner: 'octo',
      headSha: pull.headSha,
      baseSha: pull.baseSha,
      baseRef: 'main',
      title: 'A change',
      body: 'Why',
      priority: 20,
      failure: null,
      config: repositoryConfigSchema.parse({}),
      trigger: { kind: 'pull_request', name: 'opened', actor: 'mona', deliveryId: delivery, commentId: null },
    });
    expect(world.asked).toEqual(expect.arrayContaining([`plan ${task?.id}`, `publish ${task?.id}`]));
  });

  it('makes one task of the same event under two ids, admitted at once by two replicas', async () => {
    const { pull, repository, delivery, tasks } = await open();
    const { body } = (await world.store.deliveries.get(delivery)) ?? { body: '' };
    const second = await world.github.deliver('pull_request', JSON.parse(body));
    await Promise.all([delivery, second.id, delivery, second.id].map((id) => world.admit(id)));
    expect((await tasks()).map((task) => task.key)).toEqual([
      `review:${repository.id}:${pull.number}:${pull.headSha}`,
    ]);
  });

  it('supersedes the review of the old head, and uses the current head for late events', async () => {
    const { repository, pull, delivery, tasks } = await open();
    await world.admit(delivery);
    const pushed = await world.github.pushToPullRequest(repository.fullName, pull.number, {
      files: { 'a.js': 'three\n' },
      message: 'more',
    });
    await world.admit(pushed.delivery?.id ?? '');
    const late = await world.github.redeliver(delivery);
    expect(late.status).toBe(202);
    expect((await tasks()).map((task) => [task.headSha, task.outcome])).toEqual([
      [pushed.headSha, null],
      [pull.headSha, 'superseded'],
    ]);
    const old = (await tasks())[1];
    expect(world.asked.filter((entry) => entry === `publish ${old?.id}`)).toHaveLength(2);
  });

  it('reviews a head again that came back after its review was superseded', async () => {
    const { repository, pull, delivery, tasks } = await open();
    await world.admit(delivery);
    const pushed = await world.github.pushToPullRequest(repository.fullName, pull.number, {
      files: { 'a.js': 'three\n' },
      message: 'more',
    });
    await world.admit(pushed.delivery?.id ?? '');
    await world.github.setBranch(repository.fullName, `b${branches}`, pull.headSha);
    const again = await world.github.updatePullRequest(repository.fullName, pull.number, {}, 'reopened');
    await world.admit(again?.delivery?.id ?? '');
    expect((await tasks()).map((task) => [task.headSha, task.outcome])).toEqual([
      [pull.headSha, null],
      [pushed.headSha, 'superseded'],
      [pull.headSha, 'superseded'],
    ]);
  });

  it('makes a task that says what is wrong with the repository file, with key, line and remedy', async () => {
    const file = 'review:\n  fail_on: eror\n  drafst: true\n';
    const { delivery, tasks } = await open({ '.github/patchfleet.yml': file });
    await world.admit(delivery);
    const [task] = await tasks();
    expect([task?.phase, task?.outcome, task?.config]).toEqual(['publishing', 'failed', null]);
    expect(task?.failure).toEqual({
      code: 'config_invalid',
      detail: [
        '.github/patchfleet.yml:2: `review.fail_on`: "eror" is not valid. Valid: one of `error`, `warning`, `note`, `never`',
        '.github/patchfleet.yml:3: `review.drafst`: unknown key `drafst`. Valid: did you mean `drafts`? ' +
          'Known keys: enabled, drafts, agents, ignore, instructions, fail_on',
      ].join('\n'),
    });
  });

  it('refuses an image that the operator does not allow before anything is planned', async () => {
    const file = 'sandbox:\n  image: somebody/else:1\n';
    const { delivery, tasks } = await open({ '.github/patchfleet.yml': file });
    await world.admit(delivery);
    const [task] = await tasks();
    expect([task?.phase, task?.outcome, task?.config, task?.failure]).toEqual([
      'publishing',
      'failed',
      null,
      {
        code: 'image_refused',
        detail:
          '.github/patchfleet.yml: sandbox.image: the operator does not allow the image `somebody/else:1`',
      },
    ]);
  });

  it('reads the repository file from the base branch, never from the pull request', async () => {
    const { delivery, tasks } = await open(
      { '.github/patchfleet.yml': 'review: {fail_on: note}\n' },
      { files: { '.github/patchfleet.yml': 'review: {enabled: false}\n' } },
    );
    await world.admit(delivery);
    expect((await tasks())[0]?.config?.review).toMatchObject({ enabled: true, fail_on: 'note' });
  });

  it.each([
    ['a draft', {}, { draft: true }, 'the pull request is a draft'],
    [
      'a repository that turned reviews off',
      { '.github/patchfleet.yml': 'review: {enabled: false}' },
      {},
      'review.enabled is false',
    ],
  ])('ignores %s', async (_name, files, more, reason) => {
    const { delivery, tasks } = await open(files, more);
    const row = await world.admit(delivery);
    expect([row.status, row.reason, await tasks()]).toEqual(['ignored', reason, []]);
  });

  it('reviews drafts where the repository asks for it', async () => {
    const { delivery, tasks } = await open(
      { '.github/patchfleet.yml': 'review: {drafts: true}' },
      { draft: true },
    );
    await world.admit(delivery);
    expect(await tasks()).toHaveLength(1);
  });

  it('ignores a pull request that was closed meanwhile', async () => {
    const { repository, pull, delivery, tasks } = await open();
    await world.github.updatePullRequest(repository.fullName, pull.number, { state: 'closed' });
    const row = await world.admit(delivery);
    expect([row.status, row.reason, await tasks()]).toEqual(['ignored', 'the pull request is closed', []]);
  });

  it('ignores a pull request that GitHub does not have', async () => {
    const { delivery } = await open();
    world.github.faults.failNext('GET /repos/{owner}/{repo}/pulls/{pull_number}', 404, {
      message: 'Not Found',
    });
    const row = await world.admit(delivery);
    expect([row.status, row.reason]).toEqual(['ignored', 'the pull request is gone']);
  });

  it('asks GitHub four times, then rejects so that the queue tries again, and works when it does', async () => {
    const { delivery, tasks } = await open();
    const began = Date.now();
    world.clock.at = began;
    world.github.faults.failNext('GET /repos/{owner}/{repo}/pulls/{pull_number}', 502, { times: 4 });
    await expect(world.admit(delivery)).rejects.toMatchObject({ code: 'github_unavailable' });
    expect(await world.admit(delivery)).toMatchObject({ status: 'received', attempts: 1 });
    world.clock.at = began + 5000;
    expect(await world.admit(delivery)).toMatchObject({ status: 'admitted', attempts: 2 });
    expect(await tasks()).toHaveLength(1);
  });

  it('gives a delivery up after eight tries, with the reason in its row and in the audit record', async () => {
    const { delivery } = await open();
    for (let tries = 1; tries < 8; tries += 1) await world.store.deliveries.begin(delivery);
    world.github.faults.failNext('GET /repos/{owner}/{repo}/pulls/{pull_number}', 502, { times: 4 });
    const row = await world.admit(delivery);
    expect(row).toMatchObject({ status: 'failed', attempts: 8 });
    expect(row.reason).toMatch(/^github_unavailable: .*502/);
    const { rows } = await world.database.pool.query('select action, subject from audit where subject = $1', [
      delivery,
    ]);
    expect(rows).toEqual([{ action: 'delivery.failed', subject: delivery }]);
  });

  it('settles at once where the installation is suspended', async () => {
    const { delivery } = await open();
    await world.github.revokeTokens();
    await world.github.updateInstallation('octo', { suspended: true });
    const row = await world.admit(delivery);
    await world.github.updateInstallation('octo', { suspended: false });
    expect(row.status).toBe('failed');
    expect(row.reason).toMatch(/^github_refused: /);
  });

  it('puts a delivery off where GitHub limits requests for long', async () => {
    const { delivery, tasks } = await open();
    const began = Date.now();
    world.clock.at = began;
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(Math.ceil(began / 1000) + 3000),
    };
    world.github.faults.failNext('GET /repos/{owner}/{repo}/pulls/{pull_number}', 403, { headers });
    await expect(world.admit(delivery)).rejects.toMatchObject({ code: 'github_unavailable' });
    world.clock.at = began + 2_900_000;
    expect(await world.admit(delivery)).toMatchObject({ status: 'received', attempts: 1 });
    world.clock.at = began + 3_100_000;
    expect(await world.admit(delivery)).toMatchObject({ status: 'admitted', attempts: 2 });
    expect(await tasks()).toHaveLength(1);
  });

  it('admits with a fresh token where the one it had is refused', async () => {
    const { delivery, tasks } = await open();
    await world.github.revokeTokens();
    await world.admit(delivery);
    expect(await tasks()).toHaveLength(1);
  });
});
