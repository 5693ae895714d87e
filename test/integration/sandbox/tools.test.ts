import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createSetting, never, type Setting } from './docker-setting.ts';

const signal = never;
let setting: Setting;
let sandbox: Sandbox;
beforeAll(async () => {
  setting = createSetting();
  sandbox = await setting.acquire({
    'a.txt': 'one\r\ntwo\nthree',
    'empty.txt': '',
    'app/[id]/page.tsx': 'export const needle = 1;\n',
    '.gitignore': 'ignored.txt\n',
    'ignored.txt': 'needle too\n',
    'binary.bin': Buffer.from([0x7f, 0x45, 0, 1, 2]),
    'large.txt': `${'x'.repeat(99)}\n`.repeat(20_000),
  });
});
afterAll(async () => await setting.end());

describe('list', () => {
  it('gives the entries of a directory, sorted, with type and size', async () => {
    await sandbox.run(['ln', '-s', '/etc', 'link'], { signal, wallMs: 60_000 });
    expect(await sandbox.list('', { signal })).toEqual([
      { name: '.gitignore', type: 'file', bytes: 12 },
      { name: 'a.txt', type: 'file', bytes: 14 },
      { name: 'app', type: 'directory', bytes: expect.any(Number) },
      { name: 'binary.bin', type: 'file', bytes: 5 },
      { name: 'empty.txt', type: 'file', bytes: 0 },
      { name: 'ignored.txt', type: 'file', bytes: 11 },
      { name: 'large.txt', type: 'file', bytes: 2_000_000 },
      { name: 'link', type: 'symlink', bytes: 4 },
    ]);
    expect((await sandbox.list('.', { signal, limit: 2 })).map(({ name }) => name)).toEqual([
      '.gitignore',
      'a.txt',
    ]);
  });
});

describe('read', () => {
  it.each([
    [{}, { text: 'one\r\ntwo\nthree', start: 1, end: 3, totalLines: 3, truncated: false }],
    [
      { start: 2, end: 2 },
      { text: 'two\n', start: 2, end: 2, totalLines: 3, truncated: false },
    ],
    [
      { start: 3, end: 99 },
      { text: 'three', start: 3, end: 3, totalLines: 3, truncated: false },
    ],
    [{ start: 9 }, { text: '', start: 9, end: 8, totalLines: 3, truncated: false }],
  ])('gives the lines %j', async (range, expected) => {
    expect(await sandbox.read('a.txt', { signal, ...range })).toEqual(expected);
  });

  it('cuts a large file at a line and says so', async () => {
    const { text, ...rest } = await sandbox.read('large.txt', { signal });
    expect({ bytes: text.length, ...rest }).toEqual({
      bytes: 524_200,
      start: 1,
      end: 5242,
      totalLines: 20_000,
      truncated: true,
    });
  });

  it('gives nothing of an empty file', async () => {
    expect(await sandbox.read('empty.txt', { signal })).toEqual({
      text: '',
      start: 1,
      end: 0,
      totalLines: 0,
      truncated: false,
    });
  });

  it.each([
    ['missing.txt', 'missing.txt: no such file or directory'],
    ['app', 'app: is not a file'],
    ['binary.bin', 'binary.bin: is a binary file'],
    ['../etc/passwd', 'the path must not contain "..": ../etc/passwd'],
    ['/etc/passwd', 'the path must be relative to the workspace, not absolute: /etc/passwd'],
    ['fifo', 'fifo: is not a file'],
  ])('refuses %s', async (path, message) => {
    if (path === 'fifo') await sandbox.run(['mkfifo', 'fifo'], { signal, wallMs: 60_000 });
    await expect(sandbox.read(path, { signal })).rejects.toMatchObject({ name: 'ToolError', message });
  });
});

describe('search', () => {
  it('finds matches in order, also in ignored files, and stops at its limit', async () => {
    const matches = [
      { path: 'app/[id]/page.tsx', line: 1, text: 'export const needle = 1;' },
      { path: 'ignored.txt', line: 1, text: 'needle too' },
    ];
    expect(await sandbox.search('need[l]e', { signal })).toEqual({ matches, truncated: false });
    expect(await sandbox.search('needle', { signal, path: 'app' })).toEqual({
      matches: matches.slice(0, 1),
      truncated: false,
    });
    expect(await sandbox.search('x', { signal, limit: 1 })).toMatchObject({ truncated: true });
    expect(await sandbox.search('-nowhere', { signal })).toEqual({ matches: [], truncated: false });
  });

  it('says what is wrong with a pattern or a path', async () => {
    await expect(sandbox.search('(', { signal })).rejects.toThrow(/regex parse error/);
    await expect(sandbox.search('x', { signal, path: 'nope' })).rejects.toThrow(
      'nope: no such file or directory',
    );
  });
});

describe('run', () => {
  it('gives output, error output and exit code apart', async () => {
    const script = 'cat; echo err >&2; exit 3';
    expect(await sandbox.run(['sh', '-c', script], { signal, wallMs: 60_000, stdin: 'in' })).toEqual({
      exitCode: 3,
      signal: null,
      stdout: 'in',
      stderr: 'err\n',
      timedOut: false,
      isCanceled: false,
      isMaxBuffer: false,
      spawnError: null,
      durationMs: expect.any(Number),
      peakMemoryBytes: expect.any(Number),
      outOfMemory: false,
    });
  });

  it.each([
    [['no-such-program'], '', 'spawn no-such-program ENOENT'],
    [['./a.txt'], '', 'spawn ./a.txt EACCES'],
    [['true'], 'nowhere', 'nowhere: no such file or directory'],
  ])('tells why %j in "%s" cannot start', async (argv, cwd, spawnError) => {
    expect(await sandbox.run(argv, { signal, wallMs: 60_000, cwd })).toMatchObject({
      exitCode: null,
      spawnError,
    });
  });

  it('keeps head and tail of a large output', async () => {
    const result = await sandbox.run(['sh', '-c', 'echo begin; yes | head -c 5000000; echo end'], {
      signal,
      wallMs: 60_000,
      maxBuffer: 1000,
    });
    expect(result.stdout).toMatch(
      /^begin\ny\n[\s\S]*\n\[\.\.\. 499\d{4} bytes left out \.\.\.\]\n[\s\S]*end\n$/,
    );
    expect({ size: result.stdout.length < 1100, cut: result.isMaxBuffer }).toEqual({ size: true, cut: true });
  });

  it('takes an output that JSON makes six times as long', async () => {
    const result = await sandbox.run(['head', '-c', '4000000', '/dev/zero'], {
      signal,
      wallMs: 60_000,
      maxBuffer: 4_194_304,
    });
    expect({ exitCode: result.exitCode, cut: result.isMaxBuffer }).toEqual({ exitCode: 0, cut: true });
  });

  it('prints nothing into the conversation, whatever it prints', async () => {
    const frame = '\\0\\0\\0\\12{\\"id\\":1}';
    const runs = ['1', '2'].map((fd) =>
      sandbox.run(['sh', '-c', `printf '${frame}' >&${fd}`], { signal, wallMs: 60_000 }),
    );
    expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(await sandbox.read('empty.txt', { signal })).toMatchObject({ totalLines: 0 });
  });

  const processes = async () =>
    (
      await sandbox.run(['sh', '-c', 'for p in /proc/[0-9]*; do tr "\\0" " " <$p/cmdline; echo; done'], {
        signal,
        wallMs: 60_000,
      })
    ).stdout;
  /** A child in the group, one in a session of its own, and one that also forgot its environment and its parent. */
  const family =
    'sleep 1001 & setsid sleep 1002 & (setsid env -i sh -c "sleep 1003 & sleep 1004" &) ; echo started; exec sleep 1005';

  it('kills the whole tree at the wall limit, also what left the session', async () => {
    const result = await sandbox.run(['sh', '-c', family], { signal, wallMs: 4000 });
    expect(result).toMatchObject({ stdout: 'started\n', timedOut: true, signal: 'SIGKILL', exitCode: null });
    await expect.poll(processes).not.toContain('sleep 100');
  });

  it('ends at the idle limit, but not while output comes', async () => {
    const idle = await sandbox.run(['sleep', '60'], { signal, wallMs: 60_000, idleMs: 300 });
    expect(idle).toMatchObject({ timedOut: true });
    const busy = await sandbox.run(['sh', '-c', 'for i in $(seq 20); do echo $i; sleep 0.22; done'], {
      signal,
      wallMs: 60_000,
      idleMs: 4000,
    });
    expect(busy).toMatchObject({ timedOut: false, exitCode: 0 });
  });

  it('is cancelled by its signal, with its whole tree, while others go on', async () => {
    const abort = new AbortController();
    const other = sandbox.run(['sh', '-c', 'read x; echo other'], { signal, wallMs: 60_000, stdin: 'go\n' });
    const cancelled = sandbox.run(['sh', '-c', family], { signal: abort.signal, wallMs: 60_000 });
    await expect.poll(processes).toContain('sleep 1005');
    abort.abort(new Error('superseded'));
    await expect(cancelled).rejects.toThrow('superseded');
    expect((await other).stdout).toBe('other\n');
    await expect.poll(processes).not.toContain('sleep 100');
  });

  it('leaves no process behind when the program ends by itself', async () => {
    const result = await sandbox.run(['sh', '-c', '(setsid sleep 1006 &) ; echo done'], {
      signal,
      wallMs: 60_000,
    });
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n', timedOut: false });
    await expect.poll(processes).not.toContain('sleep 1006');
  });
});
