import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { assertStrict } from '../support/app/assert-strict.ts';
import { queryRows, sandboxesOf } from '../support/app/data-directory.ts';
import { smallRepository } from '../support/app/small-repository.ts';
import { until } from '../support/app/until.ts';
import { untilDone, untilIdle } from '../support/app/until-done.ts';
import { startWorld, type World } from '../support/app/world.ts';
import { mountsBelow } from '../support/loop-disk.ts';

/**
 * Sandboxes whose programs take more than there is, beside one that is well. The deaths of engines and workers in the
 * whole program are in test/chaos.
 */

const hold = `held = []
print("takes memory", flush=True)
while True:
    held.append(b"x" * 10_000_000)
`;
const fill = `echo "takes disk"; head -c 150000000 /dev/zero > full; sleep 60`;

/** What each agent runs, over a file of its own. */
const commands: Readonly<Record<string, readonly string[]>> = {
  memory: ['python3', '-u', 'tools/hold.py', '{files}'],
  disk: ['sh', 'tools/fill.sh', '{files}'],
  idle: ['sh', '-c', 'echo "does nothing"; sleep 60', 'sh', '{files}'],
  wall: ['sh', '-c', 'echo "never ends"; while :; do :; done', 'sh', '{files}'],
  well: ['sh', '-c', 'for file in "$@"; do echo "$file:1: warning: seen"; done', 'sh', '{files}'],
};
const names = Object.keys(commands);

let world: World;
beforeAll(async () => {
  world = await startWorld({
    files: { ...smallRepository, 'tools/hold.py': hold, 'tools/fill.sh': fill },
    operator: {
      limits: { parallel: 5, retries: 0, attempt_seconds: 20, idle_seconds: 8 },
      sandbox: { memory_mib: 128, memory_ceiling_mib: 256, workspace_mib: 64 },
      agents: Object.entries(commands).map(([name, command]) => ({
        ...{ name, kind: 'command', command, format: 'lines', files: [`${name}/**`] },
      })),
    },
    env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', MODEL: '' },
  });
});
afterAll(() => world.close());

it('each end in their own code, with what they said kept and nothing left over, and a neighbour is well', async () => {
  const { github, repository } = world;
  const files = Object.fromEntries(names.map((name) => [`${name}/a.txt`, 'one\n']));
  const { headSha } = await github.openPullRequest(repository, { branch: 'change', files });
  const run = await untilDone(world, headSha);
  await untilIdle(world);

  const attempts = await queryRows<{
    agent: string;
    status: string;
    code: string;
    detail: string;
    log: number;
  }>(
    world.databaseDir,
    `select s.agent, a.status, a.failure->>'code' as code, a.failure->>'detail' as detail, f.bytes::int as log
       from attempts a join subtasks s on s.id = a.subtask_id
       left join artifacts f on f.attempt_id = a.id and f.name = 'agent.log'
      order by s.agent, a.queued_at`,
  );
  const failed = (agent: string, code: string, detail: RegExp) => ({
    ...{ agent, status: 'failed', code, detail: expect.stringMatching(detail), log: expect.any(Number) },
  });
  expect(attempts).toEqual([
    failed('disk', 'disk_exhausted', /^it wrote \d+ MiB to its workspace, 64 MiB are allowed$/),
    failed('idle', 'idle_limit', /^no stream byte, output, tool call or CPU time for 8 s$/),
    failed('memory', 'memory_exhausted', /^"python3" was ended by SIGKILL/),
    failed('memory', 'memory_exhausted', /^"python3" was ended by SIGKILL/),
    failed('wall', 'wall_limit', /in time$|^stopped after 20 s$/),
    { agent: 'well', status: 'succeeded', code: null, detail: null, log: expect.any(Number) },
  ]);
  // More memory was tried, up to what the operator allows.
  const [memory] = await queryRows<{ code: string; mib: number }>(
    world.databaseDir,
    `select failure->>'code' as code, memory_mib as mib from subtasks where agent = 'memory'`,
  );
  expect(memory).toEqual({ code: 'memory_ceiling', mib: 256 });
  expect(run).toMatchObject({ conclusion: 'failure', title: expect.stringContaining('4 of 5 shards') });
  for (const code of ['disk_exhausted', 'idle_limit', 'memory_ceiling', 'wall_limit'])
    expect(run.summary).toContain(`\`${code}\``);

  const left = async () => ({
    sandboxes: (await sandboxesOf(world.dataDir)).length,
    workspaces: await readdir(join(world.dataDir, 'workspaces')),
    mounts: await mountsBelow(world.dataDir),
  });
  await until('nothing is left', async () => (await left()).sandboxes === 0);
  expect(await left()).toEqual({ sandboxes: 0, workspaces: [], mounts: [] });
  await assertStrict(world);
}, 120_000);
