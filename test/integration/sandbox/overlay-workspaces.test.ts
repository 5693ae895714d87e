import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { layersInUse } from '../../../src/sandbox/workspaces/overlay-workspaces.ts';
import { mountedAt } from '../patches/patch-setting.ts';
import { docker, never } from './docker-setting.ts';
import { createWorkspacesSetting, mountLines } from './workspaces-setting.ts';

const mayMount = process.getuid?.() === 0;
let setting: ReturnType<typeof createWorkspacesSetting>;
beforeAll(() => {
  setting = createWorkspacesSetting();
});
afterAll(async () => await setting.end());

const volumes = () =>
  docker('volume', 'ls', '-q', '--filter', `label=dev.patchfleet.instance=${setting.instance}`);

describe.runIf(mayMount)('an overlay mounted by the worker', () => {
  it('has its options pinned, and whoever is not the worker cannot get at it', async () => {
    const workspaces = setting.workspaces({ workspaces: 'overlay' });
    const workspace = await workspaces.create({ snapshot: await setting.snapshot() }, never);
    const merged = mountedAt(workspace);
    expect(mountLines(setting.root)).toEqual([
      expect.stringMatching(
        new RegExp(
          ` ${merged} rw,nosuid,nodev,relatime - overlay patchfleet rw,lowerdir=lower0,upperdir=upper,workdir=work,redirect_dir=nofollow,(uuid=on,)?userxattr$`,
        ),
      ),
    ]);
    const { uid, gid } = sandboxUser();
    expect(() => execFileSync('ls', [merged], { uid, gid, stdio: 'pipe' })).toThrow('Permission denied');
    expect(readFileSync(join(merged, 'a.txt'), 'utf8')).toBe('a\n');
    await workspace.remove();
    expect([mountLines(setting.root), readdirSync(setting.root)]).toEqual([[], []]);
    await workspace.remove();
  });

  it('can be made wherever the directories lie, and of layers over layers', async () => {
    const odd = createWorkspacesSetting('o,d:d \\ "x"\nüe');
    try {
      const workspaces = odd.workspaces({ workspaces: 'overlay' });
      const base = {
        snapshot: await odd.snapshot({ 'a.txt': 'a\n', 'd/b.txt': 'b\n' }),
        prepared: await odd.snapshot({ 'd/dep.txt': 'dep\n' }),
      };
      const workspace = await workspaces.create(base, never);
      expect(readdirSync(join(mountedAt(workspace), 'd')).sort()).toEqual(['b.txt', 'dep.txt']);
      // Whoever makes room leaves both.
      expect(await layersInUse(odd.root)).toEqual(new Set([base.snapshot, base.prepared]));
      await workspace.remove();
      expect(readdirSync(odd.root)).toEqual([]);
    } finally {
      await odd.end();
    }
  });

  it('is never removed through its mount, and goes whatever is in it and whoever holds it', async () => {
    const workspaces = setting.workspaces({ workspaces: 'overlay' });
    const snapshot = await setting.snapshot({ 'a.txt': 'a\n', 'd/b.txt': 'b\n' });
    const workspace = await workspaces.create({ snapshot }, never);
    const merged = mountedAt(workspace);
    const script = `
      rm -r d && mkdir d && chmod 0 d; mkfifo fifo; ln -s / root
      mkdir -p locked/in && chmod 0 locked; printf x > "$(printf 'bad\\377')"
    `;
    execFileSync('sh', ['-c', script], { cwd: merged });
    await expect(removeTree(join(setting.root, workspace.id))).rejects.toThrow('rm');
    expect(existsSync(join(merged, 'a.txt'))).toBe(true);
    // A process in it keeps the mount busy.
    const holder = spawn('sleep', ['300'], { cwd: merged, stdio: 'ignore' });
    try {
      await once(holder, 'spawn');
      await workspaces.remove(workspace.id);
    } finally {
      holder.kill('SIGKILL');
    }
    expect([mountLines(setting.root), readdirSync(setting.root)]).toEqual([[], []]);
    expect(readFileSync(join(snapshot, 'd/b.txt'), 'utf8')).toBe('b\n');
  });
});

describe.runIf(mayMount)('the way workspaces are made', () => {
  it('is the first that works, tried once with a container, and told once', async () => {
    const workspaces = setting.workspaces();
    const modes = await Promise.all([workspaces.mode(never), workspaces.mode(never)]);
    await workspaces.create({ snapshot: await setting.snapshot() }, never).then((one) => one.remove());
    expect(modes).toEqual(['overlay', 'overlay']);
    expect(setting.said.splice(0)).toEqual([
      { level: 'info', fields: { mode: 'overlay', problems: [] }, message: 'workspaces are made by overlay' },
    ]);
    expect([readdirSync(setting.root), volumes()]).toEqual([[], '']);
  });

  it('is by copy on a file system that can be no upper directory, or not at all where that was asked for', async () => {
    const workspaces = setting.workspaces({ workspaces: 'overlay' });
    const below = await workspaces.create({ snapshot: await setting.snapshot() }, never);
    const root = join(mountedAt(below), 'root');
    const auto = setting.workspaces({}, root);
    expect(await auto.mode(never)).toBe('copy');
    expect(setting.said.splice(0)).toEqual([
      {
        level: 'info',
        fields: {
          mode: 'copy',
          problems: [expect.stringMatching(/^overlay: .*mount/), expect.stringMatching(/^volume: .*mount/)],
        },
        message: 'workspaces are made by copy',
      },
    ]);
    const asked = setting.workspaces({ workspaces: 'overlay' }, root);
    await expect(asked.create({ snapshot: await setting.snapshot() }, never)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      detail: expect.stringMatching(/^sandbox\.workspaces is overlay, but no overlay could be made: .*mount/),
    });
    expect([readdirSync(root), volumes()]).toEqual([[], '']);
    await below.remove();
  });

  it('is by copy for a snapshot that the sandbox user may not write, or not at all where that was asked for', async () => {
    const snapshot = await setting.snapshot();
    execFileSync('chown', ['-R', '0:0', snapshot]);
    const workspaces = setting.workspaces();
    const workspace = await workspaces.create({ snapshot }, never);
    expect(mountedAt(workspace)).toBe(join(setting.root, workspace.id));
    await workspace.remove();
    await workspaces.create({ snapshot }, never).then((one) => one.remove());
    const problem = `the snapshot ${snapshot} is not the sandbox user's to write`;
    expect(setting.said.splice(0).filter(({ level }) => level === 'warn')).toEqual([
      { level: 'warn', fields: { snapshot }, message: `${problem}: its workspaces are copies` },
    ]);
    const asked = setting.workspaces({ workspaces: 'overlay' });
    await expect(asked.create({ snapshot }, never)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      detail: `${problem}; remove it, it is made again`,
    });
  });
});
