import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RemoteControls } from './control-api.ts';
import type { Controls } from './controls.ts';

type Info = Awaited<ReturnType<RemoteControls['info']>>;

export interface RemoteGitHubDouble extends Info, Controls, Omit<RemoteControls, 'info'> {
  /** Process id of the double. */
  readonly pid: number;
  /** Stops the process and waits for its end. */
  close(): Promise<void>;
}

/** Starts the double as its own process; every control of it is a call over HTTP. */
export async function spawnGitHubDouble(args: readonly string[] = []): Promise<RemoteGitHubDouble> {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, '--end-with-stdin', ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), ended.then(() => null)]);
  if (!first) throw new Error('the GitHub double ended before it was ready');
  const info = JSON.parse(String(first[0])) as Info;
  const close = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const own: Record<string, unknown> = { ...info, pid: child.pid ?? 0, close };
  return new Proxy(own, {
    get(target, name) {
      if (typeof name !== 'string' || name === 'then' || name in target) return Reflect.get(target, name);
      return (...given: unknown[]) => callControl(info.url, name, given);
    },
  }) as unknown as RemoteGitHubDouble;
}

/** Calls one control of a running double. */
export async function callControl(url: string, name: string, given: readonly unknown[]): Promise<unknown> {
  const response = await fetch(`${url}/_control/${name}`, {
    method: 'POST',
    body: JSON.stringify(given.map(portable)),
  });
  const answer = (await response.json()) as { result?: unknown; error?: string };
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.result;
}

/** Bytes travel as base64, as {@link FileContent} takes them. */
function portable(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(portable);
  if (value === null || typeof value !== 'object') return value;
  const source = value as Record<string, unknown>;
  if (source['content'] instanceof Uint8Array) {
    return { mode: source['mode'], base64: Buffer.from(source['content']).toString('base64') };
  }
  return Object.fromEntries(Object.entries(source).map(([key, part]) => [key, portable(part)]));
}
