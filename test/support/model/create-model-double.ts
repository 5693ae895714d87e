import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAnswerServer } from './answer-server.ts';
import { type BehaviourInput, behaviourSchema, type Mode } from './behaviour.ts';
import type { ApiError, ChatRequest } from './chat-request.ts';
import { type AnswerUsage, parseJson, pass, readText, sendError } from './http-exchange.ts';
import { idsOf, promptOf } from './prompt.ts';
import { refuseRequest } from './validate-request.ts';

/** One call, as the double saw it. Times are milliseconds since the epoch; `endedAt` is null while it runs. */
export interface JournalEntry {
  readonly number: number;
  readonly startedAt: number;
  endedAt: number | null;
  /** Null while nothing was answered. */
  status: number | null;
  /** The caller went away before the answer was complete. */
  aborted: boolean;
  mode: Mode | null;
  /** Why the request was refused, in OpenAI's words. */
  refusal: string | null;
  /** The bearer key. */
  readonly key: string;
  /** Ids at the end of the prompt. */
  subtask: string;
  attempt: string;
  sandbox: string;
  /** Messages of the assistant in the request: 0 in the first turn. */
  turn: number;
  body: ChatRequest | null;
  /** What the answer said it cost; null: it did not get so far, or says nothing. */
  usage: AnswerUsage | null;
}

export interface ModelDouble {
  /** For `base_url` of a channel. */
  readonly baseUrl: string;
  /** Name of the one model it has. */
  readonly model: string;
  journal(): readonly JournalEntry[];
  clearJournal(): void;
  configure(behaviour: BehaviourInput): void;
  /** From now on those calls get no answer until what it returns is called; see {@link waitingCalls}. Default: all calls. */
  hold(isMeant?: (call: JournalEntry) => boolean): () => void;
  close(): Promise<void>;
}

/** Calls that were read and got no answer so far, of agents (not of planners). */
export function waitingCalls(model: Pick<ModelDouble, 'journal'>): JournalEntry[] {
  return model.journal().filter(({ attempt, endedAt }) => attempt !== '' && endedAt === null);
}

export const doubleModel = 'scripted-reviewer';
const nonsenseModes = ['nonsense_text', 'nonsense_tools', 'nonsense_html', 'nonsense_sse'] as const;

/**
 * A strict OpenAI: refuses what the API refuses, journals every call, and answers by aimock as the agent
 * would whose tools are offered, or in one of the failing modes. In front of aimock because that validates neither keys nor the pairs of tool
 * calls and answers, and cannot hang or send things that are no answer.
 */
export async function createModelDouble(
  options: { port?: number; contextTokens?: number; behaviour?: BehaviourInput } = {},
): Promise<ModelDouble> {
  const answers = await startAnswerServer();
  const known = { models: [doubleModel], contextTokens: options.contextTokens ?? 128_000 };
  let behaviour = behaviourSchema.parse(options.behaviour ?? {});
  let inMode = 0;
  let entries: JournalEntry[] = [];
  const holds = new Set<{ isMeant: (call: JournalEntry) => boolean; over: Promise<void> }>();

  const modeFor = (request: ChatRequest, number: number): Mode => {
    if (behaviour.mode === 'review') return 'review';
    if (behaviour.only !== '' && !promptOf(request).includes(behaviour.only)) return 'review';
    if (behaviour.times !== null && inMode >= behaviour.times) return 'review';
    inMode += 1;
    return behaviour.mode === 'nonsense'
      ? (nonsenseModes[number % nonsenseModes.length] ?? 'nonsense_text')
      : behaviour.mode;
  };

  const configure = (change: BehaviourInput) => {
    behaviour = behaviourSchema.parse(change);
    inMode = 0;
  };

  async function complete(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const key = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '')?.[1] ?? '';
    const entry: JournalEntry = {
      number: entries.length,
      startedAt: Date.now(),
      endedAt: null,
      status: null,
      aborted: false,
      mode: null,
      refusal: null,
      key,
      subtask: '',
      attempt: '',
      sandbox: '',
      turn: 0,
      body: null,
      usage: null,
    };
    entries.push(entry);
    res.once('close', () => {
      entry.endedAt = Date.now();
      entry.status = res.headersSent ? res.statusCode : null;
      entry.aborted = !res.writableFinished;
    });
    const refuse = (error: ApiError) => {
      entry.refusal = error.message;
      sendError(res, error);
    };

    const text = await readText(req);
    if (key === '') return refuse(noKey);
    const body = parseJson(text);
    const refusal = refuseRequest(body, known);
    if (refusal !== null) return refuse(refusal);
    const request = body as ChatRequest;
    const mode = modeFor(request, entry.number);
    Object.assign(entry, idsOf(request), {
      body: request,
      mode,
      turn: request.messages.filter((message) => message.role === 'assistant').length,
    });
    if (mode === 'hang') return;
    const held = [...holds].filter(({ isMeant }) => isMeant(entry));
    await Promise.all(held.map(({ over }) => over));
    if (behaviour.latencyMs > 0) await sleep(behaviour.latencyMs);
    if (res.destroyed) return;
    switch (mode) {
      case 'nonsense_html':
        res
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<html><body>Welcome to the gateway</body></html>');
        return;
      case 'nonsense_sse':
        res
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('data: {"id": "chatcmpl-1", "choi\n\n');
        return;
      case 'bad_key':
        return refuse({ ...noKey, message: `Incorrect API key provided: ${key}.`, code: 'invalid_api_key' });
      default: {
        const { plans, parts, fixes, fixMs, runChecks, triages, pieceMs } = behaviour;
        const _script = { plans, parts, fixes, fixMs, runChecks, triages };
        pass(answers.url, { ...request, _mode: mode, _pieceMs: pieceMs, _script }, res, (usage) => {
          entry.usage = usage;
        });
      }
    }
  }

  async function control(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const json = (status: number, value: unknown) =>
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (req.method === 'GET' && req.url === '/control/journal') return void json(200, entries);
    if (req.method === 'DELETE' && req.url === '/control/journal') {
      entries = [];
      return void json(200, {});
    }
    if (req.method === 'POST' && req.url === '/control/behaviour') {
      const parsed = behaviourSchema.safeParse(parseJson(await readText(req)));
      if (!parsed.success) return void json(400, { error: parsed.error.issues });
      configure(parsed.data);
      return void json(200, behaviour);
    }
    json(404, { error: 'GET|DELETE /control/journal, POST /control/behaviour' });
  }

  const server = createServer((req, res) => {
    const work =
      req.method === 'POST' && req.url === '/v1/chat/completions'
        ? complete(req, res)
        : req.url?.startsWith('/control/')
          ? control(req, res)
          : Promise.resolve(
              sendError(res, { ...noKey, status: 404, message: `Unknown URL (${req.method} ${req.url})` }),
            );
    work.catch((error: unknown) => res.destroy(error instanceof Error ? error : undefined));
  });
  // Whoever is idle hangs up by himself: what he sends meets no connection that has just been closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    model: doubleModel,
    journal: () => entries,
    clearJournal: () => {
      entries = [];
    },
    configure,
    hold(isMeant = () => true) {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const hold = { isMeant, over };
      holds.add(hold);
      return () => {
        holds.delete(hold);
        resolve();
      };
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, answers.close()]);
    },
  };
}

const noKey: ApiError = {
  status: 401,
  message: "You didn't provide an API key.",
  type: 'invalid_request_error',
  code: null,
};
