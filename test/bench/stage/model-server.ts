/**
 * The model of the benchmarks as a process of its own: an OpenAI-compatible server that does nothing but wait, so that
 * it can answer 200 at once on a small machine (the double of the tests takes 2.3 ms of a core for each call, this one
 * about a tenth). It plans what it was told to and plays fixers whose rows take three calls. Prints `{baseUrl, control}`
 * once it listens; `POST <control>` takes a {@link ModelScript} and forgets the calls before, `GET <control>` gives
 * those that it answered. Ends when its standard input does.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatRequest } from '../../support/model/chat-request.ts';
import { readText } from '../../support/model/http-exchange.ts';
import { idsOf, promptOf, toolsOf } from '../../support/model/prompt.ts';
import type { ModelCall, ModelScript } from './script.ts';

let script: ModelScript = { rows: [], callMs: {} };
let calls: ModelCall[] = [];

async function complete(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const startedAt = Date.now();
  const request = JSON.parse(await readText(req)) as ChatRequest;
  const { attempt } = idsOf(request);
  const planning = toolsOf(request).has('submit_plan');
  const first = /^## Scope\n- (".*")$/m.exec(promptOf(request))?.[1];
  const path = first === undefined ? '' : (JSON.parse(first) as string);
  const waitMs = planning ? 0 : (script.callMs[path] ?? 0);
  await sleep(Math.max(0, startedAt + waitMs - Date.now()));
  if (res.destroyed) return;
  const turn = request.messages.filter(({ role }) => role === 'assistant').length;
  const [name, args] = planning ? ['submit_plan', { contract: '', rows: script.rows }] : stepOf(turn, path);
  res.writeHead(200, { 'content-type': 'text/event-stream' }).end(streamOf(request.model, turn, name, args));
  calls.push({ attempt, startedAt, endedAt: Date.now() });
}

function stepOf(turn: number, path: string): [string, object] {
  if (turn === 0) return ['list_files', {}];
  if (turn === 1) return ['write_file', { path, content: 'export const part = "rewritten";\n' }];
  return ['finish', { summary: 'Rewritten.' }];
}

function streamOf(model: string, turn: number, name: string, args: object): string {
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model };
  const call = { index: 0, id: `call_${turn}`, type: 'function' };
  const toolCalls = [{ ...call, function: { name, arguments: JSON.stringify(args) } }];
  const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
  const chunks = [
    { choices: [{ index: 0, delta: { role: 'assistant', tool_calls: toolCalls }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage },
  ];
  return [...chunks.map((chunk) => JSON.stringify({ ...head, ...chunk })), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}

async function control(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.method === 'POST') {
    script = JSON.parse(await readText(req)) as ModelScript;
    calls = [];
  }
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(calls));
}

const server = createServer((req, res) => {
  const work = req.url === '/control' ? control(req, res) : complete(req, res);
  work.catch((error: unknown) => res.destroy(error instanceof Error ? error : undefined));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 1024, () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ baseUrl: `${url}/v1`, control: `${url}/control` })}\n`);
});
process.stdin.once('end', () => process.exit(0)).resume();
