import type { CallFailure } from './call-failure.ts';
import { redactError } from './redact-error.ts';

/** What is read of a thrown value: the shape of the SDK's errors, and of Node's. */
interface ErrorLike {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly headers?: unknown;
  readonly cause?: unknown;
}

const refusedConnections = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);
const brokenConnections = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'EHOSTUNREACH']);
const lateAnswers = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/**
 * What an error of a model call means. Pure: `now` (milliseconds) is for a `retry-after` that is a date, `key`
 * is taken out of the text.
 *
 * Quota and refusals are final for their channel; limits, server errors and broken connections pass. A time-out
 * is final here: the call has used its time, and whoever schedules may try elsewhere.
 */
export function classifyError(thrown: unknown, context: { key: string; now: number }): CallFailure {
  const error: ErrorLike = typeof thrown === 'object' && thrown !== null ? thrown : { message: thrown };
  const text = redactError(String(error.message ?? 'unknown error'), context.key);
  if (typeof error.status === 'number') return classifyStatus(error.status, error, text, context.now);

  const codes = errorCodes(thrown);
  const has = (set: ReadonlySet<string>) => codes.some((code) => set.has(code));
  if (has(lateAnswers))
    return make('model_timeout', `the server did not answer (${codes[0]})`, false, 'maybe');
  if (has(refusedConnections)) {
    return make('model_unavailable', `the server cannot be reached (${codes[0]})`, true, 'no');
  }
  if (thrown instanceof SyntaxError) {
    return make('model_nonsense', 'the server sent a stream that is not valid JSON', false, 'maybe');
  }
  // An error inside a stream that had begun: the SDK gives it without a status.
  if (error.code === 'insufficient_quota' || error.type === 'insufficient_quota') {
    return make('model_refused', text, false, 'maybe');
  }
  if (error.code === 'context_length_exceeded') return make('context_exceeded', text, false, 'no');
  const innermost = redactError(innermostMessage(thrown), context.key);
  const known = has(brokenConnections) ? 'the connection broke' : 'the connection failed';
  return make('model_unavailable', `${known}: ${[innermost, ...codes].join(', ')}`, true, 'maybe');
}

function classifyStatus(status: number, error: ErrorLike, text: string, now: number): CallFailure {
  const detail = text.startsWith(String(status)) ? text : `${status} ${text}`;
  const codes = [error.code, error.type];
  if (codes.includes('insufficient_quota')) return make('model_refused', detail, false, 'no');
  if (status === 429) {
    return { ...make('model_unavailable', detail, true, 'no'), retryAfterMs: retryAfter(error.headers, now) };
  }
  if (isContextExceeded(status, codes, text)) return make('context_exceeded', detail, false, 'no');
  if (status === 408 || status === 409 || status >= 500) {
    // A gateway that gave up waiting says nothing about what the model behind it did.
    const charged = status === 408 || status === 502 || status === 504 ? 'maybe' : 'no';
    return {
      ...make('model_unavailable', detail, true, charged),
      retryAfterMs: retryAfter(error.headers, now),
    };
  }
  return make('model_refused', detail, false, 'no');
}

/** OpenAI gives a code; compatible servers (vLLM, llama.cpp, Ollama) only a sentence. */
function isContextExceeded(status: number, codes: readonly unknown[], text: string): boolean {
  if (codes.includes('context_length_exceeded')) return true;
  if (status === 413) return true;
  return (
    status === 400 &&
    /context (?:length|window|size)|maximum context|too many tokens|prompt is too long/i.test(text)
  );
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date; null where there is none that makes sense. */
function retryAfter(headers: unknown, now: number): number | null {
  if (!(headers instanceof Headers)) return null;
  const exact = headers.get('retry-after-ms');
  if (exact !== null && Number.isFinite(Number(exact))) return Math.max(0, Number(exact));
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (Number.isFinite(Number(value))) return Math.max(0, Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Codes of an error and of what caused it, the innermost first. */
function errorCodes(thrown: unknown): string[] {
  const codes: string[] = [];
  let error = thrown;
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth += 1) {
    const { code, cause } = error as ErrorLike;
    if (typeof code === 'string') codes.unshift(code);
    error = cause;
  }
  return codes;
}

/** The SDK says "Connection error."; what really happened is further in. */
function innermostMessage(thrown: unknown): string {
  let message = String(thrown);
  let error = thrown;
  for (let depth = 0; depth < 5 && error instanceof Error; depth += 1) {
    if (error.message !== '') message = error.message;
    error = error.cause;
  }
  return message;
}

function make(
  code: CallFailure['code'],
  detail: string,
  retryable: boolean,
  charged: CallFailure['charged'],
): CallFailure {
  return { code, detail, retryable, retryAfterMs: null, charged };
}
