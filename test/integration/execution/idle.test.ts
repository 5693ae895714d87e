import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runWorkspaceTool } from '../../../src/agents/workspace-tools.ts';
import { watchLimits } from '../../../src/execution/watch.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createSetting, never, type Setting } from '../sandbox/docker-setting.ts';

let setting: Setting;
let sandbox: Sandbox;
beforeAll(async () => {
  setting = createSetting();
  sandbox = await setting.acquire();
});
afterAll(() => setting.end());

/** Much longer than the engine takes to answer, which counts once a second, and shorter than what is to outlive it. */
const idleMs = 10_000;

/** An agent's command under the limits of an attempt; how it ended, or the code of what ended it. */
async function command(...argv: string[]): Promise<string> {
  const watch = watchLimits({ wallMs: 900_000, idleMs }, never);
  try {
    return await runWorkspaceTool(
      { name: 'run_command', arguments: { argv } },
      { sandbox, signal: watch.signal, onProgress: watch.alive, idleMs, commandSeconds: 900 },
    );
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code);
    throw error;
  } finally {
    watch.stop();
  }
}

describe('a silent command of an agent', () => {
  it('lives for as long as it works', async () => {
    const busy = 'const end = Date.now() + 14000; while (Date.now() < end);';
    expect(await command('node', '-e', busy)).toBe('exit code 0');
  });

  it('is ended when it does nothing', async () => {
    // On a busy machine the tool server's own looks take more CPU time, and it is later that they count as nothing.
    expect(await command('sleep', '600')).toBe('idle_limit');
  });

  it('lives where it says something now and then, though it hardly works', async () => {
    const script = 'for n in 1 2 3 4 5 6 7 8 9 10; do sleep 1.3; echo $n; done';
    expect(await command('sh', '-c', script)).toMatch(/^exit code 0/);
  });
});

describe('the CPU time of a container', () => {
  it('grows with work and stands still without', async () => {
    const read = async () => (await sandbox.cpuMs()) ?? Number.NaN;
    const idle = [await read()];
    await sandbox.run(['sleep', '6'], { signal: never, wallMs: 20_000 });
    idle.push(await read());
    await sandbox.run(['sh', '-c', 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'], {
      signal: never,
      wallMs: 60_000,
    });
    const after = await read();
    const slept = (idle[1] ?? 0) - (idle[0] ?? 0);
    console.info(
      `6 s of sleep: ${slept.toFixed(1)} ms of CPU; a loop: ${(after - (idle[1] ?? 0)).toFixed(0)} ms`,
    );
    // Starting and ending the program is in it. How much a millisecond does is a matter of the machine.
    expect(slept).toBeLessThan(after - (idle[1] ?? 0));
    expect(after - (idle[1] ?? 0)).toBeGreaterThan(0);
  });

  it('is not known of a container that is gone', async () => {
    const other = await setting.acquire();
    await other.close();
    expect(await other.cpuMs()).toBeNull();
  });
});
