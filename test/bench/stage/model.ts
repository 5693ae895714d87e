import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ModelCall, ModelScript } from './script.ts';

export interface BenchModel {
  readonly pid: number;
  /** For `base_url` of a channel. */
  readonly baseUrl: string;
  /** What it plans and how long it thinks from now on; what it was asked before is forgotten. */
  configure(script: ModelScript): Promise<void>;
  calls(): Promise<readonly ModelCall[]>;
  close(): Promise<void>;
}

/** Starts the model as a process of its own; see model-server.ts. */
export async function startModel(): Promise<BenchModel> {
  const main = fileURLToPath(new URL('./model-server.ts', import.meta.url));
  const child = spawn(process.execPath, [main], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), ended.then(() => null)]);
  if (first === null) throw new Error('the model ended before it was ready');
  const { baseUrl, control } = JSON.parse(String(first[0])) as { baseUrl: string; control: string };
  return {
    pid: child.pid ?? 0,
    baseUrl,
    configure: async (script) => {
      const answer = await fetch(control, { method: 'POST', body: JSON.stringify(script) });
      if (!answer.ok) throw new Error(`the model cannot be told: ${answer.status}`);
      await answer.arrayBuffer();
    },
    calls: async () => (await (await fetch(control)).json()) as ModelCall[],
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}
