import { describe, expect, it } from 'vitest';
import { asGitHubFailure, classifyError } from '../../../src/domain/github-problem.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const inSeconds = (seconds: number) => String(now / 1000 + seconds);

function answer(status: number, headers: Record<string, string> = {}, message = 'no') {
  return Object.assign(new Error(message), { status, response: { status, headers } });
}

describe('an error of a GitHub call', () => {
  it.each([
    ['404', answer(404), ['refused', 404, null]],
    ['401 of a token that was just made', answer(401), ['unavailable', 401, null]],
    ['403 that says so in words alone', answer(403, {}, 'API rate limit exceeded'), ['limited', 403, null]],
    ['422', answer(422), ['refused', 422, null]],
    ['403 for want of permission', answer(403, { 'x-ratelimit-remaining': '4000' }), ['refused', 403, null]],
    ['403 with retry-after', answer(403, { 'retry-after': '7' }), ['limited', 403, 7000]],
    [
      '403 at the end of the hourly limit',
      answer(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inSeconds(60) }),
      ['limited', 403, 61_000],
    ],
    [
      '403 for the secondary limit',
      answer(403, {}, 'You have exceeded a secondary rate limit.'),
      ['limited', 403, null],
    ],
    ['429', answer(429), ['limited', 429, null]],
    ['502', answer(502), ['unavailable', 502, null]],
    ['503 with retry-after', answer(503, { 'retry-after': '30' }), ['unavailable', 503, 30_000]],
    ['no answer', Object.assign(new Error('socket hang up'), { status: 500 }), ['unavailable', null, null]],
  ])('%s is told apart', (_name, error, expected) => {
    const problem = classifyError(error, now);
    expect([problem?.kind, problem?.status, problem?.retryAfterMs]).toEqual(expected);
  });

  it('is none where the error is of something else', () => {
    const error = new TypeError('a bug');
    expect([classifyError(error), asGitHubFailure(error, 'x')]).toEqual([null, error]);
  });

  it('becomes a failure that says what, whether it passes, and when to come back', () => {
    expect(asGitHubFailure(answer(404), 'the thing')).toMatchObject({
      code: 'github_refused',
      detail: 'the thing: no (404)',
    });
    expect(asGitHubFailure(answer(429), 'x')).toMatchObject({
      code: 'github_unavailable',
      retryAfterMs: 60_000,
    });
    expect(asGitHubFailure(answer(502), 'x')).not.toHaveProperty('retryAfterMs');
  });
});
