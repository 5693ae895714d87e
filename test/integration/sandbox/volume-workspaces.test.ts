import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSetting, docker, never, type Setting } from './docker-setting.ts';
import { createWorkspacesSetting } from './workspaces-setting.ts';

const signal = never;
let setting: Setting;
beforeAll(() => {
  setting = createSetting({ workspaces: 'volume' });
});
afterAll(async () => await setting.end());

const volumes = (instance: string) =>
  docker('volume', 'ls', '-q', '--filter', `label=dev.patchfleet.instance=${instance}`);

it('a workspace mounted by the engine is written to, read from its upper directory, and gone', async () => {
  const sandbox = await setting.acquire({ 'a.txt': 'one\n', 'd/b.txt': 'b\n', 'c.txt': 'c\n' });
  expect(volumes(setting.instance)).toMatch(/^patchfleet-[0-9a-f]{16}$/);
  const script =
    'echo two >> a.txt; rm -r d; mkdir d; echo n > d/n; touch c.txt; mount | grep " /workspace "';
  const ran = await sandbox.run(['sh', '-c', script], { signal, wallMs: 60_000 });
  expect(ran).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^overlay on \/workspace type overlay \(rw,nosuid,nodev,.*userxattr/),
  });
  const harvest = await sandbox.harvest(signal);
  expect(harvest.map(({ kind, path }) => [kind, path])).toEqual([
    ['file', 'a.txt'],
    ['deleted', 'd/b.txt'],
    ['file', 'd/n'],
  ]);
  await sandbox.close();
  expect([volumes(setting.instance), readdirSync(setting.workspacesDir)]).toEqual(['', []]);
});

it('what a dead worker left of volumes goes with the reaper, and nobody else’s', async () => {
  const { instance } = setting;
  const label = (of: string, worker: string) => [
    ...['--label', `dev.patchfleet.instance=${of}`, '--label', `dev.patchfleet.worker=${worker}`],
  ];
  const make = (name: string, ...labels: string[]) => docker('volume', 'create', ...labels, name);
  // Names of this run alone: the engine has one list of them for all.
  const [another, nobodys, alive, dead, deadToo] = Array.from({ length: 5 }, () =>
    randomBytes(8).toString('hex'),
  );
  const nameOf = (id: string | undefined) => `patchfleet-${id}`;
  const strangers = [
    make(nameOf(another), ...label('another', 'dead')),
    make(nameOf(nobodys)),
    make(nameOf(alive), ...label(instance, 'alive')),
  ];
  try {
    make(nameOf(dead), ...label(instance, 'dead'));
    make(nameOf(deadToo), ...label(instance, 'dead'));
    mkdirSync(join(setting.workspacesDir, `dead@${dead}/upper`), { recursive: true });
    // A directory of ours by whose name somebody else has a volume.
    mkdirSync(join(setting.workspacesDir, `dead@${nobodys}`));
    const removed = await setting.sandboxes.reap(async (worker) => worker === 'alive');
    expect(removed).toEqual({ containers: 0, workspaces: 3 });
    expect(readdirSync(setting.workspacesDir)).toEqual([]);
    expect(volumes(instance)).toBe(nameOf(alive));
    expect(docker('volume', 'inspect', '--format', '{{.Name}}', ...strangers).split('\n')).toEqual(strangers);
  } finally {
    docker('volume', 'rm', ...strangers);
  }
});

it('a path that cannot be among the options of a volume is refused by name', async () => {
  const odd = createWorkspacesSetting('a,b');
  try {
    const workspaces = odd.workspaces({ workspaces: 'volume' });
    await expect(workspaces.create({ snapshot: await odd.snapshot() }, never)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      detail: expect.stringMatching(/no overlay could be made: .* where the path ".*a,b.*" has a "," in it$/),
    });
    expect(readdirSync(odd.root)).toEqual([]);
  } finally {
    await odd.end();
  }
});

it.runIf(process.getuid?.() === 0)(
  'is what is there where the engine does not see what the worker mounts',
  async () => {
    const odd = createWorkspacesSetting();
    try {
      const script = fileURLToPath(new URL('./workspace-mode.ts', import.meta.url));
      const inside = (mode: string) =>
        execFileSync(
          'unshare',
          ['--mount', '--propagation', 'private', process.execPath, script, odd.root, odd.instance, mode],
          { encoding: 'utf8' },
        ).trim();
      expect(inside('auto')).toBe('volume');
      expect(inside('overlay')).toBe(
        'sandbox_unavailable: sandbox.workspaces is overlay, but a container cannot write to it',
      );
      expect([volumes(odd.instance), readdirSync(odd.root)]).toEqual(['', []]);
    } finally {
      await odd.end();
    }
  },
);

const socket = '/var/run/docker.sock';
const groupOfEngine = statSync(socket, { throwIfNoEntry: false })?.gid ?? 0;

it.runIf(process.getuid?.() === 0 && groupOfEngine !== 0)(
  'is what there is for a worker that is not root, which leaves nothing of root’s',
  async () => {
    const plain = createWorkspacesSetting();
    try {
      chownSync(plain.home, 12_345, groupOfEngine);
      const script = fileURLToPath(new URL('./workspace-mode.ts', import.meta.url));
      const mode = execFileSync(process.execPath, [script, plain.root, plain.instance, 'auto'], {
        ...{ encoding: 'utf8', uid: 12_345, gid: groupOfEngine },
      });
      expect(mode.trim()).toBe('volume');
      expect([volumes(plain.instance), readdirSync(plain.root)]).toEqual(['', []]);
    } finally {
      await plain.end();
    }
  },
);
