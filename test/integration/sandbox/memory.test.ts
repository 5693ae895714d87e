import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunResult, Sandbox } from '../../../src/sandbox/port.ts';
import { createSetting, never, type Setting } from './docker-setting.ts';

const signal = never;
const mib = 1024 * 1024;
const limitMib = 192;
let setting: Setting;
let sandbox: Sandbox;
beforeAll(async () => {
  setting = createSetting({ memory_mib: limitMib, scratch_mib: 256 });
  sandbox = await setting.acquire();
});
afterAll(async () => await setting.end());

/**
 * Takes so much memory, says so, and holds it for a second more than it took to get there: the tool server's looks are as
 * far apart as a run is old, where nothing moves.
 */
const holding = (size: number) => [
  'python3',
  '-c',
  `
import os, time
held = b"x" * (${size} * 1024 * 1024)
print(len(held), flush=True)
began = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
time.sleep(1 + float(open("/proc/uptime").read().split()[0]) - began)`,
];
/** Lets the engine run what takes 64 MiB and holds it until the engine has been asked how much that is. */
async function holdByEngine(first = ''): Promise<RunResult> {
  const script = `
import os, time
${first}
held = b"x" * (64 * 1024 * 1024)
open("held", "w").close()
while not os.path.exists("go"): time.sleep(0.05)`;
  let looks = 0;
  const count = (message: unknown) => {
    if ((message as { request: ClientRequest }).request.path.includes('/stats?')) looks += 1;
  };
  const running = sandbox.runByEngine(['python3', '-c', script], { signal, wallMs: 120_000 });
  const names = async () => (await sandbox.list('', { signal })).map(({ name }) => name);
  await expect.poll(names).toContain('held');
  subscribe('http.client.response.finish', count);
  try {
    // Of these the first may have begun before; they are one at a time.
    await expect.poll(() => looks).toBeGreaterThanOrEqual(3);
  } finally {
    unsubscribe('http.client.response.finish', count);
  }
  await sandbox.write('go', '', { signal });
  const result = await running;
  for (const name of ['held', 'go']) await sandbox.remove(name, { signal });
  return result;
}
/**
 * Reads far more than the limit through the cache of files. They stay: what is in use and what of it is cache are read
 * one after the other, and between the two a removal could take all of the cache away.
 */
const reading = [
  'sh',
  '-c',
  'head -c 150000000 /dev/zero > "$$" && cat "$$" "$$" "$$" > /dev/null && sleep 0.3',
];

describe('what a run needs', () => {
  it('is said by the tool server, and grows with what is held', async () => {
    const small = await sandbox.run(['sleep', '0.3'], { signal, wallMs: 60_000 });
    const large = await sandbox.run(holding(64), { signal, wallMs: 60_000 });
    const more = ((large.peakMemoryBytes ?? 0) - (small.peakMemoryBytes ?? 0)) / mib;
    expect(more).toBeGreaterThan(63);
    expect(more).toBeLessThan(90);
    expect([small, large]).toMatchObject([{ outOfMemory: false }, { outOfMemory: false, exitCode: 0 }]);
  });

  it('is said by the engine for what the engine runs', async () => {
    const small = await sandbox.runByEngine(['sleep', '0.3'], { signal, wallMs: 60_000 });
    const large = await holdByEngine();
    const more = ((large.peakMemoryBytes ?? 0) - (small.peakMemoryBytes ?? 0)) / mib;
    expect(more).toBeGreaterThan(63);
    expect(more).toBeLessThan(90);
  });

  it('is said by the engine, too, of a program that has closed its output', async () => {
    const run = await holdByEngine('os.close(1); os.close(2)');
    expect(run).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect((run.peakMemoryBytes ?? 0) / mib).toBeGreaterThan(63);
  });

  it('has no part of what the kernel keeps of files', async () => {
    const run = await sandbox.run(reading, { signal, wallMs: 60_000 });
    const byEngine = await sandbox.runByEngine(reading, { signal, wallMs: 60_000 });
    expect([run, byEngine]).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
    expect((run.peakMemoryBytes ?? 0) / mib).toBeLessThan(130);
    expect((byEngine.peakMemoryBytes ?? 0) / mib).toBeLessThan(130);
  });
});

describe('a program that runs out of memory', () => {
  it('is killed alone, and its result says why', async () => {
    expect(await sandbox.run(holding(400), { signal, wallMs: 60_000 })).toMatchObject({
      exitCode: null,
      signal: 'SIGKILL',
      outOfMemory: true,
      peakMemoryBytes: limitMib * mib,
    });
    expect(await sandbox.run(['echo', 'well'], { signal, wallMs: 60_000 })).toMatchObject({
      stdout: 'well\n',
      outOfMemory: false,
    });
  });

  it('says so too where only a child of it went', async () => {
    const parent = ['sh', '-c', `"$@"; echo "child: $?"`, 'sh', ...holding(400)];
    expect(await sandbox.run(parent, { signal, wallMs: 60_000 })).toMatchObject({
      exitCode: 0,
      stdout: 'child: 137\n',
      outOfMemory: true,
    });
  });
});

describe('a check that runs out of memory', () => {
  const exhausted = {
    code: 'memory_exhausted',
    detail: expect.stringMatching(
      new RegExp(
        `^a check ran out of memory: .* \\(the limit is ${limitMib} MiB, at most \\d+ MiB were in use\\)$`,
        's',
      ),
    ),
  };

  it('fails for memory, though its container lives', async () => {
    const other = await setting.acquire();
    await expect(other.runByEngine(holding(400), { signal, wallMs: 60_000 })).rejects.toMatchObject(
      exhausted,
    );
    expect(await other.run(['true'], { signal, wallMs: 60_000 })).toMatchObject({ exitCode: 0 });
  });

  it('does so where its runner makes a plain failure of it', async () => {
    const other = await setting.acquire();
    const runner = ['sh', '-c', `"$@" || exit 1`, 'sh', ...holding(400)];
    await expect(other.runByEngine(runner, { signal, wallMs: 60_000 })).rejects.toMatchObject(exhausted);
  });

  it('is a failure like others where nothing was killed', async () => {
    const other = await setting.acquire();
    expect(await other.runByEngine(['sh', '-c', 'kill -9 $$'], { signal, wallMs: 60_000 })).toMatchObject({
      exitCode: 137,
      outOfMemory: false,
    });
  });

  it('fails for memory where the whole sandbox goes with it', async () => {
    const other = await setting.acquire();
    // Memory that belongs to no process: the kernel kills one after the other, the tool server at last.
    const fill = 'trap "" TERM; while :; do head -c 20000000 /dev/zero >> /scratch/full; done';
    const check = (async () => {
      for (;;) await other.runByEngine(['sh', '-c', fill], { signal, wallMs: 60_000 });
    })();
    await expect(check).rejects.toMatchObject({ code: 'memory_exhausted' });
  });
});
