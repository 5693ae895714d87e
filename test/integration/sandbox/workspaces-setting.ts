import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { type SandboxConfig, sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { connectEngine } from '../../../src/sandbox/container/docker-host.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { createWorkspaces } from '../../../src/sandbox/workspaces/create-workspaces.ts';
import { unmountBelow } from '../../../src/sandbox/workspaces/overlay-mount.ts';
import { ownImage } from './docker-setting.ts';

/** Workspaces of an instance of their own, with everything below one temporary directory. */
export function createWorkspacesSetting(name = 'plain') {
  const home = mkdtempSync(join(tmpdir(), 'patchfleet-workspaces-'));
  const root = join(home, name, 'workspaces');
  const instance = `test-${randomBytes(6).toString('hex')}`;
  const said: { level: string; fields: object; message: string }[] = [];
  const say = (level: string) => (fields: object, message: string) =>
    void said.push({ level, fields, message });
  return {
    ...{ home, root, instance, said },
    workspaces: (config: Partial<SandboxConfig> = {}, below = root) =>
      createWorkspaces({
        config: sandboxConfigSchema.parse({ memory_mib: 128, ...ownImage(), ...config }),
        engine: connectEngine(process.env['DOCKER_HOST']),
        ...{ instance, worker: 'tester', user: sandboxUser(), root: below },
        log: { info: say('info'), warn: say('warn') },
      }),
    /** A directory to make workspaces of, the sandbox user's. */
    async snapshot(files: Readonly<Record<string, string>> = { 'a.txt': 'a\n' }, where = join(home, name)) {
      mkdirSync(where, { recursive: true });
      const dir = mkdtempSync(join(where, 'snapshot-'));
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(dir, path)), { recursive: true });
        await execa('tee', [join(dir, path)], { input: content });
      }
      const { uid, gid } = sandboxUser();
      await execa('chown', ['-R', `${uid}:${gid}`, dir]);
      return dir;
    },
    async end() {
      await unmountBelow(home);
      await removeTree(home);
    },
  };
}

/** What is mounted below a directory, as the kernel says: mount point, type, flags and options. */
export const mountLines = (directory: string): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => line.split(' ')[4]?.startsWith(`${directory}/`));
