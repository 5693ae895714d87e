import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureImage } from '../../../sandbox/build/build-image.mjs';
import { requireVersion } from '../../setup/docker-engine.mjs';

/** Answers `[status, body]` by method and path; what is asked is in `asked`. */
async function fakeEngine(answer) {
  const home = mkdtempSync(join(tmpdir(), 'engine-'));
  const asked = [];
  const server = http.createServer(async (request, response) => {
    let bytes = 0;
    for await (const part of request) bytes += part.length;
    const what = `${request.method} ${request.url.replace(/\?.*/, '')}`;
    asked.push({ what, bytes, query: new URL(request.url, 'http://engine').searchParams });
    const [status, body] = await answer(what, asked);
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const socketPath = join(home, 'engine.sock');
  server.listen(socketPath);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true });
  });
  return { engine: { name: `unix://${socketPath}`, transport: http, socketPath }, asked };
}

describe('an engine that is there', () => {
  it.each(['1.41', '1.51', '2.0'])('is taken with the version %s of its API', async (version) => {
    const { engine } = await fakeEngine(() => [200, { ApiVersion: version, Version: 'any' }]);
    await requireVersion(engine);
  });

  it.each(['1.40', '1.9'])('is refused with the version %s, by the one it should have', async (version) => {
    const { engine } = await fakeEngine(() => [200, { ApiVersion: version, Version: '19.03.1' }]);
    await expect(requireVersion(engine)).rejects.toThrow(
      `the Docker engine at ${engine.name} is too old (19.03.1): 20.10 or later is needed`,
    );
  });
});

describe('the sandbox image', () => {
  const said = [];
  const say = (line) => said.push(line);
  const tag = 'patchfleet-sandbox:of-a-test';
  /** A registry that answers, and a base for the way without one; `build` answers the builds, in order. */
  const withRegistry = (build) => (what, asked) => {
    if (what.startsWith('GET /distribution/')) return [200, {}];
    if (what.startsWith('GET /images/patchfleet-sandbox-base:')) return [200, { Id: 'base' }];
    if (what === 'POST /build') return build(asked.filter((one) => one.what === what).length);
    return [404, { message: 'no such thing' }];
  };

  it('is built over a base of packages where the registry answers, but what it gives cannot be built upon', async () => {
    const { engine, asked } = await fakeEngine(
      withRegistry((nth) => [200, nth === 1 ? { error: 'apt-get update: no network' } : { stream: 'done' }]),
    );
    expect(await ensureImage(engine, { say, tag })).toBe(true);
    const builds = asked.filter(({ what }) => what === 'POST /build');
    expect(builds.map(({ query }) => [query.get('t'), query.get('networkmode')])).toEqual([
      [tag, 'default'],
      [tag, 'none'],
    ]);
    expect(builds.every(({ bytes }) => bytes > 10_000)).toBe(true);
  });

  it('tells why of both ways where neither works', async () => {
    const { engine } = await fakeEngine(
      withRegistry((nth) => [200, { error: nth === 1 ? 'no network' : 'no space left on device' }]),
    );
    await expect(ensureImage(engine, { say, tag })).rejects.toThrow(
      'it cannot be built from the registry base: no network; without a registry: no space left on device',
    );
  });

  it('is left at once by who is told to stop, and not begun in another way', async () => {
    const abort = new AbortController();
    const { engine, asked } = await fakeEngine(
      withRegistry(async () => {
        abort.abort(new Error('stopped by SIGTERM'));
        return await new Promise(() => {});
      }),
    );
    await expect(ensureImage(engine, { say, tag, signal: abort.signal })).rejects.toThrow(
      'stopped by SIGTERM',
    );
    expect(asked.filter(({ what }) => what === 'POST /build')).toHaveLength(1);
  });

  it('is not built again where it is of these files', async () => {
    let labels = {};
    const { engine, asked } = await fakeEngine((what, all) => {
      const built = all.find((one) => one.what === 'POST /build');
      if (built) labels = JSON.parse(built.query.get('labels'));
      if (what === `GET /images/${tag}/json`) return [200, { Id: 'it', Config: { Labels: labels } }];
      return what === 'POST /build' ? [200, {}] : withRegistry(() => [200, {}])(what, all);
    });
    expect(await ensureImage(engine, { say, tag })).toBe(true);
    expect(await ensureImage(engine, { say, tag })).toBe(false);
    expect(asked.filter(({ what }) => what === 'POST /build')).toHaveLength(1);
  });
});
