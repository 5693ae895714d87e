import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { execa } from 'execa';
import type { HarvestEntry } from '../../../src/sandbox/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { sandboxUser } from '../../../src/sandbox/sandbox-user.ts';
import { createCopiedWorkspaces } from '../../../src/sandbox/workspaces/copied-workspaces.ts';
import { unmountBelow } from '../../../src/sandbox/workspaces/overlay-mount.ts';
import { createOverlayWorkspaces } from '../../../src/sandbox/workspaces/overlay-workspaces.ts';
import type { Workspace, WorkspaceBase } from '../../../src/sandbox/workspaces/workspaces.ts';
import { mountedAt, never } from './patch-setting.ts';

/** Workspaces of both forms over the same layers, and the sandbox user who writes to them. */

/** Only root mounts. */
export const mayMount = process.getuid?.() === 0;

/** What the sandbox user does, one after the other; what fails is told by its code. */
export interface Step {
  readonly do: string;
  readonly path: string;
  readonly to?: string;
  readonly content?: string;
  readonly number?: number;
}

/**
 * Reads lines of JSON `{ root, steps }` and answers each with a line of codes. What a rename of a directory of a lower
 * layer refuses is done as `mv` does it.
 */
const actor = `
  const fs = require('node:fs');
  const { execFileSync } = require('node:child_process');
  const { dirname } = require('node:path');
  process.umask(0o022);
  const acts = {
    write: ({ path, content }) => fs.writeFileSync(path, content),
    append: ({ path, content }) => fs.appendFileSync(path, content),
    truncate: ({ path, number }) => fs.truncateSync(path, number),
    remove: ({ path }) => fs.rmSync(path, { recursive: true }),
    rmdir: ({ path }) => fs.rmdirSync(path),
    mkdir: ({ path }) => fs.mkdirSync(path),
    parents: ({ path }) => fs.mkdirSync(dirname(path), { recursive: true }),
    again: ({ path }) => { fs.rmSync(path, { recursive: true }); fs.mkdirSync(path); },
    swap: ({ path, content }) => { fs.rmSync(path, { recursive: true }); fs.writeFileSync(path, content); },
    chmod: ({ path, number }) => fs.lstatSync(path).isSymbolicLink() || fs.chmodSync(path, number),
    symlink: ({ path, to }) => fs.symlinkSync(to, path),
    link: ({ path, to }) => fs.linkSync(path, to),
    fifo: ({ path }) => execFileSync('mkfifo', [path], { stdio: 'ignore' }),
    times: ({ path, number }) => fs.lutimesSync(path, number, number),
    rename: ({ path, to }) => {
      try {
        fs.renameSync(path, to);
      } catch (thrown) {
        if (thrown.code !== 'EXDEV') throw thrown;
        if (fs.lstatSync(to, { throwIfNoEntry: false })) fs.rmdirSync(to);
        fs.cpSync(path, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
        fs.rmSync(path, { recursive: true });
      }
    },
  };
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { root, steps } = JSON.parse(line);
    process.chdir(root);
    const codes = steps.map((step) => {
      try {
        acts[step.do](step);
        return 'done';
      } catch (thrown) {
        return thrown.code ?? 'failed';
      }
    });
    process.chdir('/');
    process.stdout.write(JSON.stringify(codes) + '\\n');
  });
`;

export interface OverlaySetting {
  readonly home: string;
  readonly root: string;
  overlay(base: WorkspaceBase): Promise<Workspace>;
  copy(base: WorkspaceBase): Promise<Workspace>;
  /** A directory of the sandbox user's, with these files; null is a directory. */
  layer(files: Readonly<Record<string, string | null>>): Promise<string>;
  /** Lets the sandbox user act in a workspace. Whether each step could be done. */
  act(workspace: Workspace, steps: readonly Step[]): Promise<string[]>;
  end(): Promise<void>;
}

export async function createOverlaySetting(): Promise<OverlaySetting> {
  const home = mkdtempSync(join(tmpdir(), 'patchfleet-overlays-'));
  // The sandbox user has to get in, which it has not where containers are given the mount.
  chmodSync(home, 0o711);
  const root = join(home, 'workspaces');
  mkdirSync(root, { mode: 0o711 });
  const user = sandboxUser();
  const place = { root, worker: 'tester', user };
  const overlays = createOverlayWorkspaces(place);
  const copies = createCopiedWorkspaces(place);
  const child = spawn(process.execPath, ['-e', actor], {
    ...{ stdio: ['pipe', 'pipe', 'inherit'], cwd: '/', uid: user.uid, gid: user.gid },
    env: { PATH: process.env['PATH'] ?? '' },
  });
  const answers = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const open = (workspace: Workspace) => {
    chmodSync(join(root, workspace.id), 0o755);
    return workspace;
  };
  return {
    home,
    root,
    overlay: async (base) => open(await overlays.create(base, never)),
    copy: async (base) => open(await copies.create(base, never)),
    async layer(files) {
      const dir = mkdtempSync(join(home, 'layer-'));
      chmodSync(dir, 0o755);
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(dir, path)), { recursive: true });
        if (content === null) mkdirSync(join(dir, path));
        else writeFileSync(join(dir, path), content);
      }
      await execa('chown', ['-R', '-h', `${user.uid}:${user.gid}`, dir]);
      return dir;
    },
    async act(workspace, steps) {
      (child as ChildProcess).stdin?.write(`${JSON.stringify({ root: mountedAt(workspace), steps })}\n`);
      const { value } = await answers.next();
      return JSON.parse(String(value)) as string[];
    },
    async end() {
      child.kill();
      await unmountBelow(home);
      await removeTree(home);
    },
  };
}

/** A harvest with the contents of its files, to be compared as a whole. */
export async function withContents(harvest: readonly HarvestEntry[]): Promise<unknown[]> {
  return await Promise.all(
    harvest.map(async (entry) => {
      if (entry.kind !== 'file') return entry;
      const { read, ...rest } = entry;
      return { ...rest, content: (await read()).toString('latin1') };
    }),
  );
}
