import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEngineWatch } from '../../../src/sandbox/container/engine-watch.ts';
import { until } from '../../support/app/until.ts';

/** An engine that answers pings, or takes them and says nothing: no real one can be told to hang. */

let dir: string;
let server: Server | null = null;
let silent = false;
const said: string[] = [];
const log = {
  warn: (message: string) => void said.push(`warn: ${message}`),
  info: (message: string) => void said.push(`info: ${message}`),
};
const away = 'warn: the Docker engine does not answer: no attempt is taken until it does';
const back = 'info: the Docker engine answers again';

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'engine-'));
  silent = false;
  said.length = 0;
});
afterEach(async () => {
  await stop();
  await rm(dir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const engine = createServer((_, response) => {
    if (!silent) response.end('OK');
  });
  server = engine;
  await new Promise<void>((resolve) => engine.listen(join(dir, 'socket'), resolve));
}

async function stop(): Promise<void> {
  const engine = server;
  server = null;
  if (engine === null) return;
  const closed = new Promise((resolve) => engine.close(resolve));
  engine.closeAllConnections();
  await closed;
}

it('an engine that goes away and comes back is told of once each', async () => {
  const answers = createEngineWatch(`unix://${join(dir, 'socket')}`, log);
  await start();
  expect([await answers(), said]).toEqual([true, []]);
  await stop();
  // An answer is good for a moment.
  await until('it is seen that the engine is gone', async () => !(await answers()));
  expect(await answers()).toBe(false);
  expect(said).toEqual([away]);
  await start();
  expect([await answers(), await answers()]).toEqual([true, true]);
  expect(said).toEqual([away, back]);
});

it('an engine that takes the question and says nothing does not answer', async () => {
  silent = true;
  await start();
  expect(await createEngineWatch(`unix://${join(dir, 'socket')}`, log)()).toBe(false);
  expect(said).toEqual([away]);
});
