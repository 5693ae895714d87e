import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { classifyError } from '../../../src/inference/classify-error.ts';

const key = 'sk-proj-abcdefghijklmnop';
const now = Date.parse('2026-11-29T12:00:00Z');

function httpError(status: number, error: object, headers: Record<string, string> = {}): unknown {
  return OpenAI.APIError.generate(status, { error }, undefined, new Headers(headers));
}

function nodeError(code: string): Error {
  return new OpenAI.APIConnectionError({
    cause: Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error('x'), { code }) }),
  });
}

describe('classifyError', () => {
  it.each([
    ['an unknown key', httpError(401, { message: 'no' }), 'model_refused', false, null, 'no'],
    ['a forbidden model', httpError(403, { message: 'no' }), 'model_refused', false, null, 'no'],
    ['an unknown model', httpError(404, { message: 'no' }), 'model_refused', false, null, 'no'],
    ['a bad request', httpError(400, { message: 'no' }), 'model_refused', false, null, 'no'],
    [
      'a used-up quota',
      httpError(429, { message: 'no', code: 'insufficient_quota' }, { 'retry-after': '1' }),
      'model_refused',
      false,
      null,
      'no',
    ],
    ['a rate limit', httpError(429, { message: 'slow' }), 'model_unavailable', true, null, 'no'],
    [
      'a rate limit with seconds',
      httpError(429, { message: 'slow' }, { 'retry-after': '90' }),
      'model_unavailable',
      true,
      90_000,
      'no',
    ],
    [
      'a rate limit with milliseconds',
      httpError(429, { message: 'slow' }, { 'retry-after-ms': '250', 'retry-after': '1' }),
      'model_unavailable',
      true,
      250,
      'no',
    ],
    [
      'a rate limit with a date',
      httpError(429, { message: 'slow' }, { 'retry-after': 'Sun, 29 Nov 2026 12:00:30 GMT' }),
      'model_unavailable',
      true,
      30_000,
      'no',
    ],
    [
      'a rate limit with a senseless header',
      httpError(429, { message: 'slow' }, { 'retry-after': 'soon' }),
      'model_unavailable',
      true,
      null,
      'no',
    ],
    [
      'a prompt too long, by code',
      httpError(400, { message: 'too long', code: 'context_length_exceeded' }),
      'context_exceeded',
      false,
      null,
      'no',
    ],
    [
      'a prompt too long, by its words',
      httpError(400, { message: "This model's maximum context length is 4096 tokens" }),
      'context_exceeded',
      false,
      null,
      'no',
    ],
    ['a server error', httpError(500, { message: 'oops' }), 'model_unavailable', true, null, 'no'],
    ['a gateway that gave up', httpError(504, { message: 'late' }), 'model_unavailable', true, null, 'maybe'],
    ['a refused connection', nodeError('ECONNREFUSED'), 'model_unavailable', true, null, 'no'],
    ['a broken connection', nodeError('ECONNRESET'), 'model_unavailable', true, null, 'maybe'],
    ['headers that never came', nodeError('UND_ERR_HEADERS_TIMEOUT'), 'model_timeout', false, null, 'maybe'],
    ['a piece that is no JSON', new SyntaxError('Unexpected token'), 'model_nonsense', false, null, 'maybe'],
    ['something thrown that is no error', 'what?', 'model_unavailable', true, null, 'maybe'],
  ])('takes %s for what it is', (_, thrown, code, retryable, retryAfterMs, charged) => {
    const { detail, ...failure } = classifyError(thrown, { key, now });
    expect(failure).toEqual({ code, retryable, retryAfterMs, charged });
    expect(detail).not.toBe('');
  });

  it('keeps keys and lengths out of the text', () => {
    const message = `Incorrect API key: ${key}, or sk-other-1234567890, sent as Authorization: Bearer abc.def\n${'x'.repeat(5000)}`;
    const { detail } = classifyError(httpError(401, { message }), { key, now });
    expect(detail).not.toMatch(/abcdefghij|1234567890|abc\.def|\n/);
    expect(detail.length).toBeLessThan(420);
  });
});
