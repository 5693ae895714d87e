import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { PatchfleetError } from '../../domain/failure.ts';

/** An engine that has sent nothing for this long does not answer any more, ms. */
const silenceMs = 60_000;

/** Two clients of one engine: dockerode's time-out is one of idle sockets, and an attached stream may be idle. */
export interface Engine {
  readonly requests: Docker;
  readonly streams: Docker;
}

/**
 * Opens a stream by `open`, which gives the signal on to the engine's client. Bounded, for that client has no limit
 * of its own: rejects with the reason of `signal`, or when the engine has not answered within `limitMs`.
 */
export async function openStream<S extends NodeJS.ReadWriteStream>(
  signal: AbortSignal,
  open: (abortSignal: AbortSignal) => Promise<S>,
  limitMs: number = silenceMs,
): Promise<S> {
  signal.throwIfAborted();
  // Of its own, so that nothing is aborted once the stream is open.
  const giveUp = new AbortController();
  const cancel = () => giveUp.abort(signal.reason);
  const late = () => giveUp.abort(new Error(`the engine gave no stream within ${limitMs} ms`));
  const timer = setTimeout(late, limitMs);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await open(giveUp.signal);
  } catch (thrown) {
    giveUp.signal.throwIfAborted();
    throw thrown;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

/** As the docker command line takes `DOCKER_TLS_VERIFY` and `DOCKER_CERT_PATH`. */
export interface EngineTls {
  /** Anything: an engine that is not at a socket is spoken to by TLS. */
  readonly verify?: string | undefined;
  /** Directory of `ca.pem`, `cert.pem` and `key.pem`; by default `~/.docker`. */
  readonly certPath?: string | undefined;
}

/**
 * The engine that `host` names, as the docker command line takes `DOCKER_HOST`; without it the local one. Fails with
 * `config_invalid`.
 */
export function connectEngine(host: string | undefined, tls: EngineTls = {}): Engine {
  const place = placeOf(host, tls);
  return { requests: new Docker({ ...place, timeout: silenceMs }), streams: new Docker(place) };
}

function placeOf(host: string | undefined, { verify, certPath }: EngineTls): Docker.DockerOptions {
  if (host === undefined) return { socketPath: '/var/run/docker.sock' };
  if (host.startsWith('unix://')) return { socketPath: host.slice('unix://'.length) };
  const url = URL.canParse(host) ? new URL(host) : null;
  if (url === null || !['tcp:', 'http:', 'https:'].includes(url.protocol)) {
    throw new PatchfleetError(
      'config_invalid',
      `DOCKER_HOST must be unix://PATH or tcp://HOST:PORT, not ${host}`,
    );
  }
  const at = { host: url.hostname, port: Number(url.port || (verify ? 2376 : 2375)) };
  if (!verify && url.protocol !== 'https:') return { ...at, protocol: 'http' };
  const keys = certPath ?? (verify ? join(homedir(), '.docker') : null);
  return { ...at, protocol: 'https', ...(keys === null ? {} : readKeys(keys)) };
}

function readKeys(directory: string): Pick<Docker.DockerOptions, 'ca' | 'cert' | 'key'> {
  const read = (name: string) => {
    try {
      return readFileSync(join(directory, name), 'utf8');
    } catch (thrown) {
      throw new PatchfleetError(
        'config_invalid',
        `TLS to the Docker engine (DOCKER_TLS_VERIFY) takes ca.pem, cert.pem and key.pem in the directory DOCKER_CERT_PATH, or ~/.docker: ${engineProblem(thrown)}`,
      );
    }
  };
  return { ca: read('ca.pem'), cert: read('cert.pem'), key: read('key.pem') };
}

/** The HTTP status of an engine's answer that was an error, if it was one. */
export function engineStatus(thrown: unknown): number | null {
  return thrown instanceof Error && 'statusCode' in thrown && typeof thrown.statusCode === 'number'
    ? thrown.statusCode
    : null;
}

/** What to say of a failed request to the engine: one line. */
export function engineProblem(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // With several addresses tried, node puts the reasons into an AggregateError without a message.
  const code = 'code' in thrown ? String(thrown.code) : thrown.name;
  return (thrown.message || code).replaceAll(/\s+/g, ' ').slice(0, 500);
}
