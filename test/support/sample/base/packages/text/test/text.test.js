import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as text from '../src/index.js';

test('cases are made from any notation', () => {
  assert.equal(text.camelCase('order-id'), 'orderId');
  assert.equal(text.kebabCase('orderId'), 'order-id');
  assert.equal(text.snakeCase('Order ID'), 'order_id');
  assert.equal(text.titleCase('green_tea'), 'Green Tea');
});

test('slugs have no accents and end at a word', () => {
  assert.equal(text.slugify('Grüner Tee, groß!'), 'gruner-tee-gross');
  assert.equal(text.slugify('first second third', { maxLength: 14 }), 'first-second');
});

test('long texts are cut and wrapped', () => {
  assert.equal(text.truncate('a pot of green tea', 12), 'a pot of…');
  assert.deepEqual(text.wrap('a pot of green tea', 9), ['a pot of', 'green tea']);
});

test('templates are filled and refuse unknown names', () => {
  assert.equal(text.fill('Dear {name}, {{', { name: 'Ada' }), 'Dear Ada, {');
  assert.throws(() => text.fill('{who}', {}), RangeError);
});

test('html is escaped and back', () => {
  const risky = `<a href="x">'&'</a>`;
  assert.equal(text.unescapeHtml(text.escapeHtml(risky)), risky);
});

test('columns line up', () => {
  assert.deepEqual(
    text.padColumns([
      ['a', 'bb'],
      ['ccc', 'd'],
    ]),
    ['a    bb', 'ccc  d'],
  );
  assert.equal(text.padBoth('ab', 5), ' ab  ');
});

test('small things', () => {
  assert.equal(text.dedent('\n    a\n      b\n  '), 'a\n  b');
  assert.equal(text.distance('kitten', 'sitting'), 3);
  assert.equal(text.plural(1, 'cup'), '1 cup');
  assert.equal(text.plural(2, 'leaf', 'leaves'), '2 leaves');
});
