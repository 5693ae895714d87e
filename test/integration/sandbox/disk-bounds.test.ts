import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { diskUse } from '../../../src/sandbox/workspaces/disk-use.ts';
import { createDiskWatch } from '../../../src/sandbox/workspaces/disk-watch.ts';
import { createSetting, docker, never, type Setting } from './docker-setting.ts';

const signal = never;
const running = (setting: Setting) =>
  docker('ps', '-q', '--no-trunc', '--filter', `label=dev.patchfleet.instance=${setting.instance}`).split(
    '\n',
  );
const mib = 1024 * 1024;

describe('what was written', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'patchfleet-use-'));
  });
  afterAll(async () => await removeTree(dir));

  it.each([10, 1000])(
    'is counted by space and by name, links once and holes not: %i files',
    async (files) => {
      const at = join(dir, `${files}`);
      mkdirSync(at);
      for (let index = 0; index < files; index += 1) writeFileSync(join(at, `${index}`), 'x');
      writeFileSync(join(at, 'large'), Buffer.alloc(2 * mib, 1));
      execFileSync(
        'sh',
        // Once it is on the disk, what it takes there stays.
        [
          '-c',
          'sync large; ln large again; mkfifo fifo; ln -s / root; mkdir d; touch "$(printf "bad\\\\377\\\\n1")"',
        ],
        {
          cwd: at,
        },
      );
      writeFileSync(join(at, 'hole'), '');
      truncateSync(join(at, 'hole'), 1e12);
      const { bytes, entries } = await diskUse(at, signal);
      const blocks = execFileSync('du', ['-s', '--block-size=512', at], { encoding: 'utf8' }).split('\t')[0];
      const own = execFileSync('stat', ['-c', '%b', at], { encoding: 'utf8' });
      expect({ entries, bytes }).toEqual({ entries: files + 7, bytes: (Number(blocks) - Number(own)) * 512 });
    },
  );

  it('is never counted elsewhere, whatever is swapped meanwhile', async () => {
    const [at, outside] = [join(dir, 'swapped'), join(dir, 'outside')];
    mkdirSync(at);
    mkdirSync(outside);
    for (let index = 0; index < 100; index += 1) writeFileSync(join(outside, `${index}`), 'x');
    const swap = `
      const fs = require('node:fs');
      process.chdir(process.argv[1]);
      for (;;) { fs.mkdirSync('d'); fs.rmdirSync('d'); fs.symlinkSync('../outside', 'd'); fs.unlinkSync('d'); }`;
    const swapper = spawn(process.execPath, ['-e', swap, at], { stdio: 'ignore' });
    try {
      const counted = new Set<number>();
      while (!counted.has(1)) counted.add((await diskUse(at, signal)).entries);
      for (let look = 0; look < 1000; look += 1) counted.add((await diskUse(at, signal)).entries);
      expect(Math.max(...counted)).toBe(1);
    } finally {
      swapper.kill('SIGKILL');
    }
  });

  it.each([
    ['runs full', { size: { bytes: 100 * mib, entries: 0 }, free: { bytes: 1 * mib, entries: 0 } }, 'bytes'],
    ['runs out of files', { size: { bytes: 1, entries: 1000 }, free: { bytes: 1, entries: 1 } }, 'entries'],
  ] as const)(
    'ends the largest alone, and the next only when that is gone, where the disk %s',
    async (words, room, most) => {
      // So far from their own bounds that nobody looks at them for seconds.
      const limits = { bytes: 1e12, entries: 1e9 };
      const watch = createDiskWatch(async () => room, limits, { warn: () => {} });
      const ended: string[] = [];
      const watched = (id: string, use: { bytes: number; entries: number }) =>
        watch.start({ id, use: async () => use }, ({ code, detail }) =>
          ended.push(`${id} ${code} ${detail}`),
        );
      const other = most === 'bytes' ? 'entries' : 'bytes';
      const stops = {
        small: watched('small', { bytes: 5000, entries: 5000, [most]: 10 }),
        large: watched('large', { bytes: 1000, entries: 1000, [other]: 20 }),
      };
      const line = (id: string) => expect.stringMatching(`^${id} disk_exhausted the disk .* ${words}`);
      await expect.poll(() => ended).toEqual([line('large')]);
      stops.large();
      await expect.poll(() => ended).toEqual([line('large'), line('small')]);
      stops.small();
    },
  );
});

describe('an attempt that writes more than it may', () => {
  let setting: Setting;
  beforeAll(() => {
    setting = createSetting({ workspace_mib: 64, workspace_files: 2000 });
  });
  afterAll(async () => await setting.end());

  it.each([
    [
      'bytes in many files',
      'i=0; while :; do i=$((i+1)); head -c 8000000 /dev/zero > f$i; done',
      /^it wrote \d+ MiB to its workspace, 64 MiB are allowed$/,
    ],
    [
      'files and directories',
      'i=0; while :; do i=$((i+1)); mkdir -p d$i; : > d$i/f; done',
      /^it made more than 2000 files and directories in its workspace$/,
    ],
  ])('is ended, and says what was reached: %s', async (_, script, detail) => {
    const sandbox = await setting.acquire();
    const neighbour = await setting.acquire();
    const run = sandbox.run(['sh', '-c', script], { signal, wallMs: 60_000 });
    const exhausted = { code: 'disk_exhausted', detail: expect.stringMatching(detail) };
    await expect(run).rejects.toMatchObject(exhausted);
    await expect(sandbox.harvest(signal)).rejects.toMatchObject(exhausted);
    await expect.poll(() => running(setting)).not.toContain(sandbox.containerId);
    await sandbox.close();
    const still = await neighbour.run(['cat', 'a.txt'], { signal, wallMs: 60_000 });
    expect(still.stdout).toBe('one\ntwo\n');
    await neighbour.close();
  });

  it('is told so by the engine’s own runs, too, and no file of its is larger than its bound', async () => {
    const sandbox = await setting.acquire();
    // With nothing in it: what is written up to this bound may come to the workspace's, which has the same.
    const large = await sandbox.run(['sh', '-c', 'truncate -s 70000000 f'], { signal, wallMs: 60_000 });
    expect(large.stderr).toMatch(/File (size limit exceeded|too large)/i);
    const script =
      'while :; do head -c 8000000 /dev/zero >> g$$; head -c 8000000 /dev/zero > h$(date +%N); done';
    const run = sandbox.runByEngine(['sh', '-c', script], { signal, wallMs: 60_000 });
    await expect(run).rejects.toMatchObject({ code: 'disk_exhausted' });
    await sandbox.close();
  });
});
