import { type FixtureResponse, LLMock } from '@copilotkit/aimock';
import { type Mode, paces, type Script } from './behaviour.ts';
import type { ChatRequest } from './chat-request.ts';
import { scriptedReply } from './scripted-reply.ts';

/** Added by the front to what it passes on; a fixture's predicate sees the body alone. */
export interface Passed extends ChatRequest {
  readonly _mode: Mode;
  readonly _pieceMs: number;
  readonly _script: Script;
}

/** aimock, which makes the streams: what it answers follows from the request and the mode it is passed. */
export async function startAnswerServer(): Promise<{ url: string; close(): Promise<void> }> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', strict: true, chunkSize: 200, journalMaxEntries: 1 });
  const respond = (request: unknown): FixtureResponse => answer(request as Passed);
  const inMode = (mode: Mode) => ({ predicate: (request: unknown) => (request as Passed)._mode === mode });
  mock.on(inMode('cut'), respond, { truncateAfterChunks: 3, chunkSize: 4, latency: 20 });
  // A fixture's pace is fixed, so each pace that is asked for has a fixture of its own.
  for (const pieceMs of paces) {
    const paced = { predicate: (request: unknown) => (request as Passed)._pieceMs === pieceMs };
    mock.on(paced, respond, { latency: pieceMs, chunkSize: 4 });
  }
  mock.on({ predicate: () => true }, respond);
  await mock.start();
  return { url: mock.url, close: () => mock.stop() };
}

function answer(request: Passed): FixtureResponse {
  switch (request._mode) {
    case 'error500':
      return {
        status: 500,
        error: { message: 'The server had an error processing your request.', type: 'server_error' },
      };
    case 'quota':
      return {
        status: 429,
        error: {
          message: 'You exceeded your current quota, please check your plan and billing details.',
          type: 'insufficient_quota',
          code: 'insufficient_quota',
        },
      };
    case 'rate_limit':
      return {
        status: 429,
        retryAfter: 1,
        error: { message: 'Rate limit reached.', type: 'requests', code: 'rate_limit_exceeded' },
      };
    case 'nonsense_text':
      return { content: 'Colourless green ideas sleep furiously. LGTM!' };
    case 'nonsense_tools':
      return { toolCalls: [{ name: 'report_finding', arguments: '{"path": "src/' }] };
    case 'length':
      return { content: 'Let me think about this at great', finishReason: 'length' };
    case 'content_filter':
      return { content: '', finishReason: 'content_filter' };
    default: {
      const { content, toolCalls } = scriptedReply(request, request._script);
      return { content, toolCalls: toolCalls.map((call) => ({ ...call })) };
    }
  }
}
