import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { checkEngine as check } from '../../../src/sandbox/check-engine.ts';
import type { RunResult, Sandbox, Sandboxes, SandboxRequest } from '../../../src/sandbox/port.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { listWorkspaces } from '../../../src/sandbox/workspaces/workspaces.ts';

const mib = 1024 * 1024;
const images = (declared: Record<string, unknown> = {}) =>
  ({
    version: async () => ({ Version: '20.10.24', ApiVersion: '1.41' }),
    getImage: () => ({ inspect: async () => ({ Size: 800 * mib, Config: declared }) }),
  }) as unknown as Docker;

const standard = { isolation: 'standard', runtime: null } as const;

type Outcome = Pick<RunResult, 'exitCode' | 'spawnError' | 'stdout' | 'stderr'>;
type Answer = (argv: readonly string[]) => Outcome;
const ran: Outcome = { exitCode: 0, spawnError: null, stdout: '', stderr: '' };
const ends = (outcome: Partial<Outcome>): Outcome => ({ ...ran, exitCode: 1, ...outcome });
/** As an image with everything answers. */
const whole: Answer = (argv) =>
  argv[0] === 'git' && argv[1] === 'config' ? { ...ran, stdout: '/dev/null\n' } : ran;

/** Sandboxes that run commands like `answer`, or die under what runs in them. */
function sandboxes({ dies = false, answer = whole }: { dies?: boolean; answer?: Answer }) {
  const asked: (string | undefined)[] = [];
  let closed = 0;
  const acquire = async ({ image }: SandboxRequest) => {
    asked.push(image);
    return {
      run: async (argv: readonly string[]) => {
        if (dies) throw new PatchfleetError('sandbox_died', 'the container was removed');
        return answer(argv) as RunResult;
      },
      close: async () => {
        closed += 1;
      },
    } as unknown as Sandbox;
  };
  return { ports: { acquire } satisfies Pick<Sandboxes, 'acquire'>, asked, closed: () => closed };
}

const size = 'x:1 has 800 MiB.';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'patchfleet-check-engine-'));
});
afterAll(() => rmSync(home, { recursive: true }));

const checkEngine = (
  docker: Docker,
  choice: typeof standard,
  tried: readonly string[],
  ports: Pick<Sandboxes, 'acquire'>,
) =>
  check(docker, choice, tried, ports, {
    root: join(home, 'workspaces'),
    worker: 'tester',
    user: sandboxUser(),
    unseen: async () => null,
  });

it('tries an image over what belongs to the user of the sandboxes, where a reaper would find it', async () => {
  const root = join(home, 'of-another');
  const seen: unknown[] = [];
  const { ports } = sandboxes({});
  const acquire = async (request: SandboxRequest) => {
    const { uid, mode } = await lstat(request.snapshot);
    seen.push({ uid, mode: mode & 0o777, left: await listWorkspaces(root) });
    return await ports.acquire(request);
  };
  const uid = process.getuid?.() === 0 ? 12_345 : (process.getuid?.() ?? 0);
  const place = { root, worker: 'tester', user: { uid, gid: uid }, unseen: async () => null };
  await check(images(), standard, ['x:1'], { acquire }, place);
  const left = [{ id: expect.stringMatching(/^tester@[0-9a-f]{16}$/), worker: 'tester' }];
  expect(seen).toEqual([{ uid, mode: 0o755, left }]);
  expect(readdirSync(root)).toEqual([]);
});

it('names what is wrong when a trial fails', async () => {
  const { ports, closed } = sandboxes({ dies: true });
  expect(await checkEngine(images(), standard, ['x:1'], ports)).toEqual({
    problems: [
      expect.stringMatching(
        /^A trial sandbox of x:1 does not work: the container was removed\. .*operations\.md/,
      ),
    ],
    notes: [],
  });
  expect(closed()).toBe(1);
});

it('tries every image once, whatever is wrong with the others', async () => {
  const { ports, asked } = sandboxes({});
  const docker = {
    version: async () => ({ Version: '20.10.24', ApiVersion: '1.41' }),
    getImage: (name: string) => ({
      inspect: async () => {
        if (name !== 'gone') return { Size: mib, Config: {} };
        throw Object.assign(new Error('no such image'), { statusCode: 404 });
      },
    }),
  } as unknown as Docker;
  expect(await checkEngine(docker, standard, ['a', 'gone', 'b', 'a'], ports)).toEqual({
    problems: [expect.stringMatching(/^The sandbox image gone is not on the engine\./)],
    notes: ['a has 1 MiB.', 'b has 1 MiB.'],
  });
  expect(asked).toEqual(['a', 'b']);
});

it('asks nothing of images where there is no engine', async () => {
  const { ports, asked } = sandboxes({});
  const version = async () => {
    throw new Error('connect ENOENT /var/run/docker.sock');
  };
  const { problems } = await checkEngine(
    { ...images(), version } as unknown as Docker,
    standard,
    ['x:1'],
    ports,
  );
  expect(problems).toEqual([expect.stringMatching(/^The Docker engine cannot be reached \(connect ENOENT/)]);
  expect(asked).toEqual([]);
});

it('refuses an engine that passes over in silence what it does not know', async () => {
  const { ports, asked } = sandboxes({});
  const engine = (Version: string, ApiVersion: string) =>
    ({ ...images(), version: async () => ({ Version, ApiVersion }) }) as unknown as Docker;
  const old = await checkEngine(engine('19.03.15', '1.40'), standard, ['x:1'], ports);
  expect(old).toEqual({
    problems: [expect.stringMatching(/^The Docker engine is too old \(19\.03\.15\).*20\.10 or later/)],
    notes: [],
  });
  expect(asked).toEqual([]);
  for (const api of ['1.41', '1.52', '2.0'])
    expect(await checkEngine(engine('x', api), standard, ['x:1'], ports)).toMatchObject({ problems: [] });
});

it('tells what the product needs apart from what repositories may need', async () => {
  const { ports } = sandboxes({
    answer(argv) {
      if (argv[0] === 'rg') return ends({ exitCode: null, spawnError: 'spawn rg ENOENT' });
      if (argv[0] === 'go') return ends({ exitCode: null, spawnError: 'spawn go ENOENT' });
      return whole(argv);
    },
  });
  expect(await checkEngine(images(), standard, ['x:1'], ports)).toEqual({
    problems: ['x:1 lacks `rg` (ripgrep) (spawn rg ENOENT). Install `ripgrep` in the image.'],
    notes: [
      size,
      'Recommended: x:1 lacks Go, which many repositories need. Install `golang-go` in the image.',
    ],
  });
});

it('does not take a Git that would run hooks for one that runs none', async () => {
  const { ports } = sandboxes({ answer: () => ran });
  expect((await checkEngine(images(), standard, ['x:1'], ports)).problems).toEqual([
    'x:1 lacks a Git that runs no hooks. Build it with `git config --system core.hooksPath /dev/null`.',
  ]);
});

it('names the shell alone where there is none', async () => {
  const { ports } = sandboxes({
    answer: (argv) => (argv[0] === 'sh' ? ends({ spawnError: 'spawn sh ENOENT' }) : whole(argv)),
  });
  expect(await checkEngine(images(), standard, ['x:1'], ports)).toEqual({
    problems: ['x:1 lacks a shell `sh` (spawn sh ENOENT). Install `dash` or `bash` in the image.'],
    notes: [size],
  });
});

it('does not take files that could not be looked for as none', async () => {
  const { ports } = sandboxes({
    answer: (argv) => (argv.some((argument) => argument.includes('-perm')) ? ends({}) : whole(argv)),
  });
  expect((await checkEngine(images(), standard, ['x:1'], ports)).problems).toEqual([
    'x:1 lacks `find`: set-user-id files cannot be looked for in it. Install `findutils` in the image.',
  ]);
});

it('refuses set-user-id files and volumes', async () => {
  const { ports } = sandboxes({
    answer: (argv) =>
      argv.some((argument) => argument.includes('-perm'))
        ? { ...ran, stdout: '/usr/bin/su\n/usr/bin/mount\n' }
        : whole(argv),
  });
  expect(await checkEngine(images({ Volumes: { '/data': {} } }), standard, ['x:1'], ports)).toEqual({
    problems: [
      expect.stringMatching(
        /^x:1 has set-user-id or set-group-id files, such as \/usr\/bin\/su, \/usr\/bin\/mount\./,
      ),
      expect.stringMatching(/^x:1 declares volumes \(\/data\)/),
    ],
    notes: [size],
  });
  expect(await checkEngine(images(), standard, ['x:1'], sandboxes({}).ports)).toEqual({
    problems: [],
    notes: [size],
  });
});
