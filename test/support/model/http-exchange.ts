import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Passed } from './answer-server.ts';
import type { ApiError } from './chat-request.ts';

/** Tokens, as an answer counts them. */
export interface AnswerUsage {
  readonly prompt: number;
  readonly completion: number;
}

/**
 * Passes a request on to aimock, and its answer back piece by piece, with the break where it breaks. `used` is told
 * what a whole answer says of its cost.
 */
export function pass(
  url: string,
  body: Passed & { readonly stream_options?: unknown },
  res: ServerResponse,
  used: (usage: AnswerUsage | null) => void = () => {},
): void {
  // A server that knows no `stream_options` sends no usage.
  const { stream_options, ...rest } = body;
  const sent = JSON.stringify(body._mode === 'no_usage' ? rest : body);
  const inner = httpRequest(
    `${url}/v1/chat/completions`,
    {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', authorization: 'Bearer inner' },
    },
    (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('error', () => res.destroy());
      answer.on('aborted', () => res.destroy());
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () => used(usageOf(Buffer.concat(pieces).toString('utf8'))));
      answer.pipe(res);
    },
  );
  inner.on('error', () => res.destroy());
  res.on('close', () => inner.destroy());
  inner.end(sent);
}

/** The last figures in an answer, whether a stream or not. */
function usageOf(text: string): AnswerUsage | null {
  const found = [...text.matchAll(/"usage":\{"prompt_tokens":(\d+),"completion_tokens":(\d+)/g)].at(-1);
  return found === undefined ? null : { prompt: Number(found[1]), completion: Number(found[2]) };
}

export function sendError(res: ServerResponse, { status, ...error }: ApiError): void {
  res
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ error: { param: null, ...error } }));
}

export async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
