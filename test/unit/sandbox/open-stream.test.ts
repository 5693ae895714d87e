import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectEngine, openStream } from '../../../src/sandbox/container/docker-host.ts';

/** An engine that takes requests and answers none. */
const engine = createServer(() => {});
let dir: string;
let attach: (abortSignal: AbortSignal) => Promise<NodeJS.ReadWriteStream>;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'patchfleet-engine-'));
  await new Promise<void>((resolve) => engine.listen(join(dir, 'socket'), resolve));
  const { streams } = connectEngine(`unix://${join(dir, 'socket')}`);
  attach = (abortSignal) =>
    streams.getContainer('c').attach({ stream: true, stdin: true, stdout: true, hijack: true, abortSignal });
});
afterAll(async () => {
  engine.closeAllConnections();
  await new Promise((resolve) => engine.close(resolve));
  await rm(dir, { recursive: true, force: true });
});

describe('a stream of an engine that does not answer', () => {
  it('is given up at the limit', async () => {
    await expect(openStream(new AbortController().signal, attach, 50)).rejects.toThrow(
      'the engine gave no stream within 50 ms',
    );
  });

  it('is given up when nobody wants it any more', async () => {
    const abort = new AbortController();
    const opening = expect(openStream(abort.signal, attach)).rejects.toThrow('enough');
    abort.abort(new Error('enough'));
    await opening;
  });
});
