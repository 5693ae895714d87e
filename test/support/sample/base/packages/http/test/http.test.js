import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as http from '../src/index.js';

test('queries and cookies are read and written', () => {
  assert.deepEqual(http.parseQuery('a=1&a=2&b=x%20y'), { a: ['1', '2'], b: 'x y' });
  assert.equal(http.stringifyQuery({ a: [1, 2], b: undefined }), 'a=1&a=2');
  assert.deepEqual(
    [...http.parseCookies('a=1; b=%C3%BC')],
    [
      ['a', '1'],
      ['b', 'ü'],
    ],
  );
  assert.match(http.setCookie('a', 'b', { maxAge: 60 }), /^a=b; Path=\/; HttpOnly; .*Max-Age=60$/);
});

test('routes find their handler', () => {
  const router = new http.Router().add('GET', '/orders/:id', ({ params }) => params.id);
  assert.equal(router.handle({ method: 'GET', path: '/orders/a%20b' }), 'a b');
  assert.throws(() => router.handle({ method: 'PUT', path: '/orders/1' }), { status: 405 });
  assert.throws(() => router.handle({ method: 'GET', path: '/' }), { status: 404 });
});

test('tags and types', () => {
  const tag = http.entityTag('tea');
  assert.equal(http.matchesTag(`"x", W/${tag}`, tag), true);
  assert.equal(http.matchesTag(undefined, tag), false);
  assert.equal(http.mediaTypeOf('a.SVG'), 'image/svg+xml');
  assert.equal(http.mediaTypeOf('README'), 'application/octet-stream');
});

test('offers are chosen by liking', () => {
  const offers = ['text/html', 'application/json'];
  assert.equal(http.negotiate('text/html;q=0.5, application/json', offers), 'application/json');
  assert.equal(http.negotiate('image/png', offers), null);
});

test('limits hold', async () => {
  const limit = new http.RateLimit({ size: 1, perSecond: 1 });
  assert.deepEqual(
    [limit.allows('a', 0), limit.allows('a', 10), limit.allows('a', 1010)],
    [true, false, true],
  );
  const chunks = [Buffer.from('te'), Buffer.from('a')];
  assert.equal(await http.readBody(chunks), 'tea');
  await assert.rejects(http.readBody(chunks, 2), { status: 413 });
});

test('handlers are composed and answers made', () => {
  const handler = http.compose(
    (_request, next) => `${next()}!`,
    (request) => request.path,
  );
  assert.equal(handler({ path: '/tea' }), '/tea!');
  assert.equal(http.json({ a: 1 }).body, '{"a":1}');
  assert.throws(() => http.redirect('//elsewhere'), RangeError);
});
