import { readdir, readFile, writeFile } from 'node:fs/promises';
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
/** No file may be as large as all may be together. */
const fill = `echo "takes disk"; for i in 1 2 3; do head -c 50000000 /dev/zero > full$i; done; sleep 600`;

/** What each agent runs, over a file of its own. */
const commands: Readonly<Record<string, readonly string[]>> = {
  memory: ['python3', '-u', 'tools/hold.py', '{files}'],
  disk: ['sh', 'tools/fill.sh', '{files}'],
  idle: ['sh', '-c', 'echo "does nothing"; sleep 600', 'sh', '{files}'],
  wall: ['sh', '-c', 'echo "never ends"; while :; do :; done', 'sh', '{files}'],
  well: ['sh', '-c', 'for file in "$@"; do echo "$file:1: warning: seen"; done', 'sh', '{files}'],
};

let world: World;
beforeAll(async () => {
  world = await startWorld({
    files: { ...smallRepository, 'tools/hold.py': hold, 'tools/fill.sh': fill },
    operator: {
      limits: { parallel: 4, retries: 0, attempt_seconds: 300, idle_seconds: 8 },
      sandbox: { memory_mib: 256, memory_ceiling_mib: 512, workspace_mib: 64 },
      agents: Object.entries(commands).map(([name, command]) => ({
        ...{ name, kind: 'command', command, format: 'lines', files: [`${name}/**`] },
      })),
    },
    env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', MODEL: '' },
  });
});
afterAll(() => world.close());

/** The review of a change with a file for each of these agents; its attempts, with the bytes of their logs. */
async function review(agents: readonly string[]) {
  const files = Object.fromEntries(agents.map((name) => [`${name}/a.txt`, 'one\n']));
  const pull = { branch: agents.join('-'), files };
  const { headSha } = await world.github.openPullRequest(world.repository, pull);
  const run = await untilDone(world, headSha);
  await untilIdle(world);
  const attempts = await queryRows<{
    agent: string;
    code: string | null;
    detail: string;
    log: number | null;
  }>(
    world.databaseDir,
    `select s.agent, a.failure->>'code' as code, a.failure->>'detail' as detail, f.bytes::int as log
       from attempts a join subtasks s on s.id = a.subtask_id join tasks t on t.id = a.task_id
       left join artifacts f on f.attempt_id = a.id and f.name = 'agent.log'
      where t.head_sha = $1 order by s.agent, a.queued_at`,
    [headSha],
  );
  return { run, attempts };
}

const failed = (agent: string, code: string, detail: RegExp) => ({
  ...{ agent, code, detail: expect.stringMatching(detail), log: expect.any(Number) },
});

async function nothingIsLeft(): Promise<void> {
  let left: object = {};
  const gone = async () => {
    const sandboxes = await sandboxesOf(world.dataDir);
    const workspaces = await readdir(join(world.dataDir, 'workspaces'));
    const mounts = await mountsBelow(world.dataDir);
    left = { sandboxes: sandboxes.map(({ Id }) => Id), workspaces, mounts };
    return sandboxes.length + workspaces.length + mounts.length === 0;
  };
  await until('nothing is left', gone, { describe: () => JSON.stringify(left) });
}

it('each end in their own code, what they said is kept, nothing is left over, and a neighbour is well', async () => {
  const { run, attempts } = await review(['memory', 'disk', 'idle', 'well']);
  expect(attempts).toEqual([
    failed('disk', 'disk_exhausted', /^it wrote \d+ MiB to its workspace, 64 MiB are allowed$/),
    failed('idle', 'idle_limit', /^no stream byte, output, tool call or CPU time for 8 s$/),
    failed('memory', 'memory_exhausted', /^"python3" was ended by SIGKILL/),
    failed('memory', 'memory_exhausted', /^"python3" was ended by SIGKILL/),
    { agent: 'well', code: null, detail: null, log: expect.any(Number) },
  ]);
  // More memory was tried, up to what the operator allows.
  const memory = await queryRows<{ code: string; mib: number }>(
    world.databaseDir,
    `select failure->>'code' as code, memory_mib as mib from subtasks where agent = 'memory'`,
  );
  expect(memory).toEqual([{ code: 'memory_ceiling', mib: 512 }]);
  expect(run).toMatchObject({ conclusion: 'failure' });
  for (const code of ['disk_exhausted', 'idle_limit', 'memory_ceiling'])
    expect(run.summary).toContain(`\`${code}\``);
  await nothingIsLeft();
  await assertStrict(world);
});

it('what never ends is ended by the time an attempt has', async () => {
  const [app] = world.apps;
  await app?.stop();
  const config = await readFile(join(world.dataDir, 'patchfleet.yml'), 'utf8');
  const short = join(world.dataDir, 'short.yml');
  await writeFile(short, config.replace('attempt_seconds: 300', 'attempt_seconds: 10'));
  await world.start('all', { dataDir: world.dataDir, env: { PATCHFLEET_CONFIG: short } });
  const { run, attempts } = await review(['wall']);
  expect(attempts).toEqual([failed('wall', 'wall_limit', /^"sh" did not end in time$|^stopped after 10 s$/)]);
  expect(run.summary).toContain('`wall_limit`');
  await nothingIsLeft();
  await assertStrict(world);
});
