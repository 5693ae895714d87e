import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createSetting, never, type Setting } from './docker-setting.ts';

const signal = never;
let setting: Setting;
let sandbox: Sandbox;
beforeAll(async () => {
  setting = createSetting();
  sandbox = await setting.acquire({
    'a.txt': 'one\r\ntwo\r\n',
    'src/main.ts': 'export function main() {\n  return 1;\n}\n',
    'binary.bin': Buffer.from([0x7f, 0, 1]),
    'latin1.txt': Buffer.from([0x61, 0xe9, 0x0a]),
    'gone.txt': 'x',
  });
  const script =
    'ln -s /scratch out; ln -s src inside; ln -s nowhere dangling; ln -s a.txt alias; mkfifo fifo; chmod 755 gone.txt';
  await sh(script);
});
afterAll(async () => await setting.end());

const sh = async (script: string) =>
  (await sandbox.run(['sh', '-c', script], { signal, wallMs: 60_000 })).stdout;
const refusal = (message: string | RegExp) => ({
  name: 'ToolError',
  message: typeof message === 'string' ? message : expect.stringMatching(message),
});

describe('write', () => {
  it('writes whole files, makes directories, keeps modes and leaves nothing else', async () => {
    await sandbox.write('new/deep/ü [id].ts', 'text\n', { signal });
    await sandbox.write('./new/run.sh', '#!/bin/sh\n', { signal, executable: true });
    await sandbox.write('gone.txt', 'still executable', { signal });
    await sandbox.write('inside/linked.ts', 'in src\n', { signal });
    await sandbox.write('big.txt', 'x'.repeat(5_000_000), { signal });
    expect((await sh('stat -c "%a %s %n" new/deep/* new/run.sh gone.txt src/* big.txt')).split('\n')).toEqual(
      [
        '644 5 new/deep/ü [id].ts',
        '755 10 new/run.sh',
        '755 16 gone.txt',
        '644 7 src/linked.ts',
        '644 39 src/main.ts',
        '644 5000000 big.txt',
        '',
      ],
    );
    await sandbox.write('gone.txt', '', { signal, executable: false });
    expect(await sh('stat -c "%a %s" gone.txt; find . -name ".patchfleet-*"')).toBe('644 0\n');
  });

  it.each([
    ['out/x', 'out/x: leads out of the workspace by a symlink'],
    ['out/new/x', 'out/new/x: leads out of the workspace by a symlink'],
    ['dangling/x', /^dangling\/x: /],
    ['alias', 'alias: is a symlink'],
    ['src', 'src: is a directory'],
    ['fifo', 'fifo: is not a file'],
    ['a.txt/x', 'a.txt/x: a part of the path is not a directory'],
    ['../x', 'the path must not contain "..": ../x'],
    ['/etc/x', 'the path must be relative to the workspace, not absolute: /etc/x'],
    ['', '.: is not the name of a file'],
    ['new/', 'new/: is not the name of a file'],
    ['x\0y', 'the path contains a NUL character'],
    [`${'n'.repeat(300)}`, /the path is too long$/],
  ])('refuses %j', async (path, message) => {
    await expect(sandbox.write(path, 'x', { signal })).rejects.toMatchObject(refusal(message));
    expect(await sh('ls /scratch; find . -name ".patchfleet-*"')).toBe('home\ntmp\n');
  });

  it('says that a text is too large for it', async () => {
    const large = sandbox.write('huge.txt', 'x'.repeat(17 * 1024 * 1024), { signal });
    await expect(large).rejects.toMatchObject(refusal(/too large/));
  });
});

describe('edit', () => {
  it('replaces a text, exactly or but for white space, and keeps line ends', async () => {
    expect(await sandbox.edit('a.txt', 'one\ntwo', 'one\n2', { signal })).toEqual({
      edited: true,
      line: 1,
      explanation: '',
    });
    expect(await sh('od -c a.txt | head -1')).toBe('0000000   o   n   e  \\r  \\n   2  \\r  \\n\n');
    expect(await sandbox.edit('src/main.ts', 'return 9;', 'x', { signal })).toEqual({
      edited: false,
      line: 2,
      explanation: 'The text does not occur. The nearest in the file, from line 2:\n2:   return 1;',
    });
  });

  it('loses none of many edits at once', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `<${index}>`);
    await sandbox.write('many.txt', names.join('\n'), { signal });
    await Promise.all(names.map((name) => sandbox.edit('many.txt', name, `done ${name}`, { signal })));
    expect((await sandbox.read('many.txt', { signal })).text).toBe(
      names.map((name) => `done ${name}`).join('\n'),
    );
  });

  it.each([
    ['missing', 'missing: no such file or directory'],
    ['binary.bin', 'binary.bin: is a binary file'],
    ['latin1.txt', 'latin1.txt: is not UTF-8 text; run a command to change it'],
    ['fifo', 'fifo: is not a file'],
    ['out/x', 'out/x: leads out of the workspace by a symlink'],
    ['nodir/x', 'nodir/x: no such file or directory'],
  ])('refuses %s', async (path, message) => {
    await expect(sandbox.edit(path, 'a', 'b', { signal })).rejects.toMatchObject(refusal(message));
  });
});

describe('remove', () => {
  it('removes files and symlinks themselves', async () => {
    await sandbox.remove('alias', { signal });
    await sandbox.remove('gone.txt', { signal });
    expect(await sh('ls')).not.toMatch(/alias|gone/);
    expect(await sh('ls a.txt')).toBe('a.txt\n');
  });

  it.each([
    ['missing', 'missing: no such file or directory'],
    ['src', 'src: is a directory; remove its files one by one, or run `rm -r`'],
    ['out/home', 'out/home: leads out of the workspace by a symlink'],
  ])('refuses %s', async (path, message) => {
    await expect(sandbox.remove(path, { signal })).rejects.toMatchObject(refusal(message));
  });
});

it('what was written is harvested; then the container has stopped and its files can be removed', async () => {
  const own = await setting.acquire({ 'a.txt': 'one\n', 'b.txt': 'b' });
  await own.write('a.txt', 'two\n', { signal });
  await own.write('c/run', 'x', { signal, executable: true });
  await own.remove('b.txt', { signal });
  const harvest = await own.harvest(signal);
  const seen = await Promise.all(
    harvest.map(async (entry) =>
      entry.kind === 'file' ? { ...entry, read: String(await entry.read()) } : entry,
    ),
  );
  expect(seen).toEqual([
    { kind: 'file', path: 'a.txt', executable: false, bytes: 4, read: 'two\n' },
    { kind: 'deleted', path: 'b.txt' },
    { kind: 'file', path: 'c/run', executable: true, bytes: 1, read: 'x' },
  ]);
  await expect(own.write('a.txt', 'x', { signal })).rejects.toMatchObject({ code: 'sandbox_died' });
  await own.close();
  expect(existsSync(join(setting.workspacesDir, own.containerId))).toBe(false);
  // One that ended by itself is read as well.
  const dead = await setting.acquire({ 'a.txt': 'one\n' });
  await expect(
    dead.run(['sh', '-c', 'echo two > a.txt; kill -9 $PPID'], { signal, wallMs: 60_000 }),
  ).rejects.toMatchObject({ code: 'sandbox_died' });
  expect((await dead.harvest(signal)).map(({ kind, path }) => [kind, path])).toEqual([['file', 'a.txt']]);
});
