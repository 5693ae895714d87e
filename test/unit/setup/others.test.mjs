import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { namesTaken, takeName, waitForName, waitForNone } from '../../setup/others.mjs';

/** Names of this test alone. */
const own = (name) => `test-${process.pid}-${name}`;
const place = (file) => fileURLToPath(new URL(`../../setup/${file}`, import.meta.url));
const never = new AbortController().signal;

/** A process that runs a module and has said `ready`. */
async function started(script) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdout.setEncoding('utf8');
  const [said] = await once(child.stdout, 'data');
  expect(said).toBe('ready\n');
  return child;
}

describe.skipIf(process.platform !== 'linux')('commands that run at the same time', () => {
  it('are let in one after the other, the next one as soon as the first has ended, however it did', async () => {
    const name = own('turn');
    const holder = await started(
      `const { takeName } = await import(${JSON.stringify(place('others.mjs'))});
       await takeName(${JSON.stringify(name)});
       console.log('ready');
       setInterval(() => {}, 1000);`,
    );
    let waits = 0;
    let isIn = false;
    const next = waitForName(name, { signal: never, onWait: () => (waits += 1) }).then((release) => {
      isIn = true;
      return release;
    });
    await expect.poll(() => waits).toBe(1);
    expect({ isIn, taken: await takeName(name) }).toEqual({ isIn: false, taken: null });
    holder.kill('SIGKILL');
    const release = await next;
    await release();
    const again = await takeName(name);
    expect(again).toBeTypeOf('function');
    await again();
    expect(waits).toBe(1);
  });

  it('know who else is there, and wait for them unless they are told to stop', async () => {
    const [beginning, mine, other] = [own('user-'), own('user-1'), own('user-2')];
    const abort = new AbortController();
    const leave = [await takeName(mine), await takeName(other)];
    expect(namesTaken(beginning).sort()).toEqual([mine, other]);
    const untilAlone = (signal) => waitForNone(beginning, { except: mine, signal, onWait: () => {} });
    const given = untilAlone(abort.signal);
    abort.abort(new Error('enough'));
    await expect(given).rejects.toThrow();
    const alone = untilAlone(never);
    await leave[1]();
    await alone;
    // Where there is nobody, nobody is waited for, not even by who is to stop.
    await untilAlone(abort.signal);
    await leave[0]();
  });
});

it('a command goes on where there are no such names', async () => {
  const release = await takeName(own('x'.repeat(200)));
  expect(release).toBeTypeOf('function');
  await release();
});

it('a signal ends what is under way beside programs as well', async () => {
  const child = await started(
    `const { makeRunner } = await import(${JSON.stringify(place('processes.mjs'))});
     const { run, signal, stoppedBy } = makeRunner();
     const alive = setInterval(() => {}, 1000);
     signal.addEventListener('abort', async () => {
       clearInterval(alive);
       const refused = await run('true', []).catch((error) => error.message);
       console.log(JSON.stringify({ reason: signal.reason.message, by: stoppedBy(), refused }));
     });
     console.log('ready');`,
  );
  child.kill('SIGTERM');
  const [said] = await once(child.stdout, 'data');
  const reason = 'stopped by SIGTERM';
  expect(JSON.parse(said)).toEqual({ reason, by: 'SIGTERM', refused: reason });
  if (child.exitCode === null) await once(child, 'exit');
  expect(child.exitCode).toBe(0);
});
