/**
 * The few calls of Docker's HTTP API that set-up needs, with Node's builtins alone: it runs before anything
 * is installed, and a `docker` client on the path says nothing about an engine.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';

const defaultSocket = '/var/run/docker.sock';

/** Where the engine listens: `DOCKER_HOST` (unix:// or tcp://, TLS by `DOCKER_TLS_VERIFY`), else the usual socket. */
export function endpoint(env = process.env) {
  const host = env.DOCKER_HOST || `unix://${defaultSocket}`;
  if (host.startsWith('unix://'))
    return { name: host, transport: http, socketPath: host.slice('unix://'.length) };
  const url = new URL(host.replace(/^tcp:/, 'http:'));
  if (!/^https?:$/.test(url.protocol)) {
    throw new Error(`DOCKER_HOST=${host} is not understood: use unix:///path or tcp://host:port`);
  }
  const at = { name: host, host: url.hostname, port: url.port || (env.DOCKER_TLS_VERIFY ? '2376' : '2375') };
  if (!env.DOCKER_TLS_VERIFY && url.protocol === 'http:') return { ...at, transport: http };
  const dir = env.DOCKER_CERT_PATH || (env.DOCKER_TLS_VERIFY && join(homedir(), '.docker'));
  const keys = dir
    ? {
        ca: readFileSync(join(dir, 'ca.pem')),
        cert: readFileSync(join(dir, 'cert.pem')),
        key: readFileSync(join(dir, 'key.pem')),
      }
    : {};
  return { ...at, transport: https, ...keys };
}

/**
 * One request. `body` is a string or a readable stream. Answers `{status, text}` for every status;
 * rejects only when the engine cannot be reached, the body's stream fails, `timeoutMs` of silence passed or `signal`
 * aborted.
 */
export function call(
  engine,
  method,
  path,
  { body, type = 'application/json', timeoutMs = 900_000, onLine, signal } = {},
) {
  const { transport, name, ...connection } = engine;
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': type };
    const request = transport.request(
      { ...connection, method, path, headers, timeout: timeoutMs, signal },
      (answer) => {
        let text = '';
        let unread = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => {
          text += chunk;
          if (!onLine) return;
          const lines = (unread + chunk).split('\n');
          unread = lines.pop();
          for (const line of lines) onLine(line);
        });
        answer.on('end', () => resolve({ status: answer.statusCode, text }));
        answer.on('error', reject);
      },
    );
    request.on('timeout', () => request.destroy(new Error(`${name}: no answer within ${timeoutMs} ms`)));
    request.on('error', reject);
    if (body === undefined || typeof body === 'string') return request.end(body);
    body.on('error', (error) => request.destroy(error));
    body.pipe(request);
  });
}

/** True when an engine answers its ping. */
export async function answers(engine) {
  try {
    return (await call(engine, 'GET', '/_ping', { timeoutMs: 5_000 })).status === 200;
  } catch {
    return false;
  }
}

/** Calls whose answer is a stream of JSON lines (build, import) tell failure in a line, with status 200. */
export async function callStream(engine, path, options) {
  const { status, text } = await call(engine, 'POST', path, options);
  const lines = text.split('\n').filter((line) => line.trim().startsWith('{'));
  const error = lines.map((line) => JSON.parse(line)).find((line) => line.error)?.error;
  if (status >= 400 || error) throw new Error((error ?? text).trim() || `the engine answered ${status}`);
}

/** The image's id and labels, or null when there is none of that name. */
export async function inspectImage(engine, name) {
  const { status, text } = await call(engine, 'GET', `/images/${name}/json`);
  if (status === 404) return null;
  if (status !== 200) throw new Error(`the engine answered ${status} about image ${name}: ${text.trim()}`);
  const image = JSON.parse(text);
  return { id: image.Id, labels: image.Config?.Labels ?? {} };
}

/** Tags of a repository's images, as `name:tag`. */
export async function imageNames(engine, repository) {
  const filters = encodeURIComponent(JSON.stringify({ reference: [repository] }));
  const { status, text } = await call(engine, 'GET', `/images/json?filters=${filters}`);
  return status === 200 ? JSON.parse(text).flatMap((image) => image.RepoTags ?? []) : [];
}

/** Removes an image if nothing uses it; a refusal (still in use, gone already) is no failure. */
export async function removeImage(engine, name) {
  await call(engine, 'DELETE', `/images/${name}`);
}
