import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createSetting, never, type Setting } from './docker-setting.ts';

const signal = never;
let setting: Setting;
let sandbox: Sandbox;
beforeAll(async () => {
  setting = createSetting({ pids: 64 });
  sandbox = await setting.acquire();
});
afterAll(async () => await setting.end());

/** What runs beside init, the tool server and the looking itself. */
const others = async () => {
  const script = 'for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline; echo; done';
  const { stdout } = await sandbox.run(['sh', '-c', script], { signal, wallMs: 60_000 });
  const own = /docker-init|tini|tool-server|^sh -c for p in|^tr \\0|^$/;
  return stdout.split('\n').filter((line) => !own.test(line.trim()));
};

/** Takes every place among the processes, in sessions of its own, without its environment, deaf to every signal. */
const deafBomb = `
import os, signal
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except Exception: pass
while True:
    try:
        if os.fork() == 0:
            os.setsid()
            os.environ.clear()
    except OSError: pass
`;

describe('a fork bomb', () => {
  it.each([
    // The shell starts one process, the first, and becomes another: it may have no place for a second, and would end.
    ['of a shell', ['sh', '-c', 'bomb() { (bomb | bomb) & }; bomb; exec sleep 30']],
    [
      'that is deaf, has left its session and has no place left to start anything',
      ['python3', '-c', deafBomb],
    ],
  ])('%s is killed whole at its limit, and the sandbox goes on', async (_, bomb) => {
    const result = await sandbox.run(bomb, { signal, wallMs: 1500 });
    expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: 'SIGKILL' });
    // What was killed needs the CPU once more, to end.
    await expect.poll(others).toEqual([]);
  });

  it('is killed whole when it is cancelled, while another run goes on', async () => {
    const abort = new AbortController();
    // It has all its processes before there is no place for more.
    const lasting = 'read line; echo "$line"; sleep 3 & : > begun; wait; echo done';
    const other = sandbox.run(['sh', '-c', lasting], { ...{ signal, wallMs: 60_000, stdin: 'go\n' } });
    const names = async () => (await sandbox.list('', { signal })).map(({ name }) => name);
    await expect.poll(names).toContain('begun');
    const bomb = sandbox.run(['python3', '-c', deafBomb], { signal: abort.signal, wallMs: 60_000 });
    // Once nothing can be started any more it has all that there is.
    await expect
      .poll(async () => (await sandbox.run(['true'], { signal, wallMs: 60_000 })).spawnError)
      .not.toBeNull();
    abort.abort(new Error('enough'));
    await expect(bomb).rejects.toThrow('enough');
    expect(await other).toMatchObject({ exitCode: 0, stdout: 'go\ndone\n' });
    await expect.poll(others).toEqual([]);
  });
});

describe('a run', () => {
  it('stands behind the tool server in the turn for the CPU, and goes first when memory runs out', async () => {
    const script = 'nice; until grep -x 1000 /proc/self/oom_score_adj; do :; done; ulimit -c; ulimit -n';
    expect((await sandbox.run(['sh', '-c', script], { signal, wallMs: 60_000 })).stdout).toBe(
      '19\n1000\n0\n4096\n',
    );
  });

  it('can get no better place by itself', async () => {
    const script = 'renice -n 0 $$ 2>&1 | grep -c denied; nice';
    expect((await sandbox.run(['sh', '-c', script], { signal, wallMs: 60_000 })).stdout).toBe('1\n19\n');
  });
});
