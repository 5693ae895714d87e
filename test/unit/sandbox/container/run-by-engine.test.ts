import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import type { Engine } from '../../../../src/sandbox/container/docker-host.ts';
import { runByEngine } from '../../../../src/sandbox/container/run-by-engine.ts';

/** An engine whose one command says `output`, as far as it comes, and has ended with 0. */
function engine(output: (stream: PassThrough) => void): Engine {
  const stream = new PassThrough();
  const exec = {
    start: async () => {
      setImmediate(() => output(stream));
      return stream;
    },
    inspect: async () => ({ Running: false, ExitCode: 0 }),
  };
  const client = {
    getContainer: () => ({
      exec: async () => ({ id: 'exec' }),
      inspect: async () => ({ State: { Running: true, OOMKilled: false, ExitCode: 0 } }),
      stats: async () => ({}),
    }),
    getExec: () => exec,
  };
  return { requests: client, streams: client } as unknown as Engine;
}

const run = { argv: ['true'], cwd: '/workspace', env: {}, wallMs: 1000, maxBuffer: 1024 };
const signal = new AbortController().signal;
const said = (text: string) =>
  Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, 0, text.length]), Buffer.from(text)]);

it('gives what a command said, once it was said whole', async () => {
  const whole = engine((stream) => stream.end(said('12 passed')));
  expect(await runByEngine(whole, 'box', { ...run, signal })).toMatchObject({
    exitCode: 0,
    stdout: '12 passed',
  });
});

it('waits for what a command said last for as long as more of it comes', async () => {
  const slow = engine((stream) => {
    const words = ['1 ', '2 ', '3 ', '4 ', '5 ', 'passed'];
    const timer = setInterval(() => {
      stream.write(said(words.shift() ?? ''));
      if (words.length > 0) return;
      clearInterval(timer);
      stream.end();
    }, 200);
  });
  expect(await runByEngine(slow, 'box', { ...run, signal })).toMatchObject({ stdout: '1 2 3 4 5 passed' });
});

it('waits no longer for a child that was left behind and says nothing', async () => {
  const held = engine((stream) => stream.write(said('12 passed')));
  expect(await runByEngine(held, 'box', { ...run, signal })).toMatchObject({ stdout: '12 passed' });
});

it.each<[string, (stream: PassThrough) => void]>([
  [
    'breaks off',
    (stream) => stream.write(said('1 passed'), () => stream.destroy(new Error('reset by peer'))),
  ],
  ['is none', (stream) => stream.end('not a stream of Docker')],
])('takes no result from a command whose output %s', async (_, output) => {
  await expect(runByEngine(engine(output), 'box', { ...run, signal })).rejects.toMatchObject({
    code: 'sandbox_died',
  });
});
