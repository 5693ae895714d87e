import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, ownComments, ownPulls } from '../../support/app/ask.ts';
import { assertStrict } from '../../support/app/assert-strict.ts';
import { databaseUrl, queryRows } from '../../support/app/data-directory.ts';
import { until } from '../../support/app/until.ts';
import { describeWorld, untilIdle } from '../../support/app/until-done.ts';
import { startWorld, type World } from '../../support/app/world.ts';
import { agentCalls, attemptsOf, killWorkerAt, paidTwice } from '../../support/fixes/lost-worker.ts';
import { type AskedFix, askFix, fixTasks, readFix, untilFixed } from '../../support/fixes/read-fix.ts';
import { waitingCalls } from '../../support/model/create-model-double.ts';
import { asUser, inside, outsideOf, reachable } from './direct-access.ts';
import { agentTimes, openEnds, rowStories } from './figures.ts';
import { files, hard, small, standing, wide } from './repository.ts';
import { misbooked, usedTokens } from './spending.ts';

/** What is looked at before a fleet goes live: one server, two workers and an embedded database, as shipped. */

let world: World;
beforeAll(async () => {
  world = await startWorld({
    files,
    roles: [],
    operator: {
      limits: { parallel: 2 },
      // A worker that is held up for some seconds is not lost: only one that is killed is.
      timing: { heartbeat_ms: 300, lease_ms: 6000, reconcile_ms: 300 },
    },
  });
  for (const role of ['serve', 'work', 'work'] as const) await world.start(role, { dataDir: world.dataDir });
});
afterAll(() => world.close());

const rowsOf = <T extends object>(sql: string, ...values: unknown[]) =>
  queryRows<T & Record<string, unknown>>(world.databaseDir, sql, values);
const logs = () =>
  world.apps.flatMap((app) =>
    app
      .logs()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => ({ role: app.role, ...(JSON.parse(line) as { task?: string; msg: string }) })),
  );

/** A fix of four rows, as anybody sees it, its ids left out. */
async function resultOf(fix: AskedFix) {
  await untilFixed(world, fix);
  await untilIdle(world);
  const { outcome, isCandidate, head, pulls, answers } = await readFix(world, fix);
  const counts = answers.map((text) => /: (\d of \d subtasks merged)/.exec(text)?.[1] ?? text);
  return { outcome, isCandidate, tree: head?.tree, pulls: pulls.length, answers: counts };
}
let made: Promise<{ fix: AskedFix; result: Awaited<ReturnType<typeof resultOf>> }> | null = null;
/** The wide fix, undisturbed; made once. */
function undisturbed() {
  const make = async () => {
    const { model } = world;
    model.configure(wide);
    // No agent gets an answer before all four of them work.
    const answer = model.hold(({ attempt }) => attempt !== '');
    try {
      const fix = await askFix(world);
      const working = () => new Set(waitingCalls(model).map(({ subtask }) => subtask)).size;
      await until('all four agents work', () => working() === 4, { describe: () => describeWorld(world) });
      answer();
      return { fix, result: await resultOf(fix) };
    } finally {
      answer();
    }
  };
  made ??= make();
  return made;
}

describe('before it goes live', () => {
  it('1: every component says that it is well', async () => {
    const { url = '' } = world.apps[0] ?? {};
    for (const path of ['/healthz', '/readyz']) {
      const answer = await fetch(`${url}${path}`);
      expect([path, answer.status, await answer.json()]).toEqual([path, 200, { status: 'ok' }]);
    }
    // What it says first is of the machine: nothing is wrong.
    expect(await world.run('doctor')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^(?:Recommended: .*\n)?all well$/),
    });
    const working = world.apps.filter(({ role }) => role === 'work').map(({ pid }) => String(pid));
    await until('both workers give signs of life', async () => {
      const alive = await rowsOf<{ name: string }>(
        "select name from workers where seen_at > now() - interval '10 seconds' and capacity = 2",
      );
      const pids = alive.map(({ name }) => /-(\d+)-[0-9a-f]+$/.exec(name)?.[1] ?? '');
      return JSON.stringify(pids.toSorted()) === JSON.stringify(working.toSorted());
    });
  });

  it('2: a small task goes through its four stages, each of which is logged', async () => {
    world.model.configure(small);
    const fix = await askFix(world);
    await untilFixed(world, fix);
    const [task] = await fixTasks(world, fix);
    const stages = ['task planned', 'attempt succeeded', 'patches merged', 'task published'];
    // The processes' logs are read one by one.
    const logged = await until('every stage is logged', () => {
      const own = logs().filter((line) => line.task === task?.id && stages.includes(line.msg));
      return stages.every((stage) => own.some(({ msg }) => msg === stage)) && own;
    });
    expect(
      stages.map((stage) => [
        stage,
        [...new Set(logged.flatMap(({ msg, role }) => (msg === stage ? role : [])))],
      ]),
    ).toEqual([
      ['task planned', ['work']],
      ['attempt succeeded', ['work']],
      ['patches merged', ['work']],
      ['task published', ['serve']],
    ]);
    const [pull] = await ownPulls(world);
    expect(pull).toMatchObject({ draft: true, headRef: `patchfleet/${task?.id}` });
    expect(await world.github.fileAt(world.repository, pull?.headRef ?? '', 'src/greet.js')).toContain(
      'Good day',
    );
  });

  it('3: several workers work at once, and are done before one alone could be', async () => {
    const { fix, result } = await undisturbed();
    expect(result).toMatchObject({ outcome: 'succeeded', pulls: 1, answers: ['4 of 4 subtasks merged'] });
    const { attempts, workers, overlap, wall, serial } = await agentTimes(world, fix);
    expect({ attempts, workers, overlap }).toEqual({ attempts: 4, workers: 2, overlap: true });
    expect(wall).toBeLessThan(serial);
  });

  it('4: rows that fail the checks run again with what the checks said, and are cut where that does not help', async () => {
    world.model.configure(hard);
    const fix = await askFix(world);
    await untilFixed(world, fix);
    const [task] = await fixTasks(world, fix);
    const failed = 'verification_failed';
    const part = { status: 'succeeded', reruns: 0, told: true, part_of: 'Better factors', depth: 1 };
    expect(await rowStories(world, task?.id ?? '')).toEqual([
      {
        ...{ title: 'Sum better', status: 'succeeded', reruns: 1, told: true, part_of: null, depth: 0 },
        attempts: [failed, 'succeeded'],
      },
      {
        ...{ title: 'Better factors', status: 'split', reruns: 1, told: true, part_of: null, depth: 0 },
        attempts: [failed, failed],
      },
      { title: 'Better factors (part 1/2)', ...part, attempts: ['succeeded'] },
      { title: 'Better factors (part 2/2)', ...part, attempts: ['succeeded'] },
    ]);
    const pull = (await ownPulls(world)).find(({ headRef }) => headRef === `patchfleet/${task?.id}`);
    const [, onTheWay = ''] = pull?.body?.split('### On the way') ?? [];
    expect(onTheWay).toMatch(
      /\*\*Sum better\*\*: run again once, since the checks failed with it \(.*add adds/,
    );
    expect(onTheWay).toMatch(/\*\*Better factors\*\*: cut into \*Better factors \(part 1\/2\)\* and/);
    expect(await ownComments(world, fix.number)).toEqual([expect.stringContaining('3 of 3 subtasks merged')]);
  });

  it('5: what a killed worker had begun another one ends, from its last checkpoint, with the same result', async () => {
    const { result } = await undisturbed();
    world.model.configure(wide);
    const before = new Set(agentCalls(world).map(({ subtask }) => subtask));
    const fix = await askFix(world);
    const worker = await killWorkerAt(world, 2, before);
    await world.start('work', { dataDir: world.dataDir });
    expect(await resultOf(fix)).toEqual(result);
    const attempts = await attemptsOf(world, fix);
    const lost = attempts.filter(({ status }) => status === 'lost');
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.map((attempt) => attempt.worker)).toEqual(lost.map(() => worker));
    expect(paidTwice(world, attempts)).toEqual([]);
    const resumed = lost.map(({ subtask }) => {
      const next = attempts.find((one) => one.subtask === subtask && one.status === 'succeeded');
      const turns = agentCalls(world)
        .filter(({ attempt }) => attempt === next?.id)
        .map(({ turn }) => turn);
      return { elsewhere: next !== undefined && next.worker !== worker, from: Math.min(...turns) };
    });
    expect(resumed.every(({ elsewhere }) => elsewhere)).toBe(true);
    expect(Math.max(...resumed.map(({ from }) => from))).toBeGreaterThanOrEqual(2);
  });

  it('7: nobody comes into a sandbox or the database from beside, or to GitHub with a token that is over', async () => {
    const { github, model, repository } = world;
    model.configure(standing);
    const fix = await askFix(world);
    await until(
      'two agents wait for the model',
      () => agentCalls(world).filter(({ mode, endedAt }) => mode === 'hang' && endedAt === null).length === 2,
      { describe: () => describeWorld(world) },
    );
    // Those that have agents; others may be started ahead.
    const [one = '', two = ''] = (
      await rowsOf<{ container: string }>(
        "select container_id as container from attempts where status = 'running' and container_id is not null",
      )
    ).map(({ container }) => container);
    const [first, second] = [await outsideOf(one), await outsideOf(two)];
    const alone = { mode: 'none', published: [], interfaces: 'lo' };
    expect([first.network, second.network]).toEqual([alone, alone]);
    const { url = '' } = world.apps[0] ?? {};
    const [server] = await rowsOf<{ tcp: string; dir: string }>(
      `select current_setting('listen_addresses') as tcp, current_setting('unix_socket_directories') as dir`,
    );
    expect(server?.tcp).toBe('');
    const socket = join(server?.dir ?? '', '.s.PGSQL.5432');
    const hosts = Object.values(networkInterfaces()).flatMap((all) =>
      (all ?? []).map(({ address }) => address),
    );
    const port = new URL(url).port;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await reachable(one, [...hosts.map((host) => `${host}:${port}`), socket])).toEqual([]);

    // Both run as one user; each sees its own files alone, and that user sees none of them on the host.
    await inside(one, 'sh', '-c', 'echo mine > /workspace/of-one-alone');
    expect((await inside(one, 'cat', '/workspace/of-one-alone')).stdout).toBe('mine');
    expect((await inside(two, 'find', '/', '-name', 'of-one-alone', '-not', '-path', '/proc/*')).stdout).toBe(
      '',
    );
    const file = join(first.workspace, 'of-one-alone');
    expect((await inside(two, 'cat', file)).exitCode).not.toBe(0);
    if (process.getuid?.() === 0) {
      const [uid = 0, gid = 0] = second.user.split(':').map(Number);
      // The database asks for no password: who may open its socket may in, and that is its owner and root.
      for (const path of [file, socket]) {
        expect((await asUser(0, 0, 'ls', path)).stdout).toBe(path);
        expect((await asUser(uid, gid, 'ls', path)).stderr).toContain('Permission denied');
      }
    }

    const asked = github.journal.length;
    const expired = await github.expireTokens();
    expect(expired.length).toBeGreaterThan(0);
    for (const token of expired) {
      const headers = { authorization: `token ${token}` };
      expect((await fetch(`${github.apiUrl}/repos/${repository}`, { headers })).status).toBe(401);
    }
    const { reactions } = await ask(world, fix.number, '/patchfleet cancel');
    expect(reactions).toEqual(['eyes']);
    const since = github.journal.slice(asked);
    const minted = 'POST /app/installations/{installation_id}/access_tokens';
    expect(since.filter(({ status }) => status === 401).length).toBeGreaterThan(expired.length);
    expect(since.filter(({ route, status }) => route === minted && status === 201).length).toBeGreaterThan(0);
    expect((await ownComments(world, fix.number)).join('\n')).toContain('**The fix was cancelled.**');
  });

  it('6: every figure settles: nothing is open, and what was spent is what the model says was used', async () => {
    await untilIdle(world);
    const url = await databaseUrl(world.databaseDir);
    const idle = {
      ...{ 'live attempts': 0, 'open rows': 0, 'open tasks': 0, 'open deliveries': 0 },
      ...{ 'open publications': 0, 'reserved calls': 0, 'kept checkpoints': 0, sandboxes: 0, jobs: 0 },
    };
    let last: object = {};
    const settled = async () => {
      last = await openEnds(world, url);
      return Object.values(last).every((count) => count === 0);
    };
    await until('every figure has settled', settled, { describe: () => JSON.stringify(last) });
    expect(last).toEqual(idle);

    // Two tasks and four attempts at the very least: there is something to compare.
    expect(usedTokens(world).size).toBeGreaterThanOrEqual(6);
    expect(await misbooked(world)).toEqual([]);
    await assertStrict(world);
  });
});
