import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as money from '../src/index.js';

const eur = (minor) => money.amount(minor, 'EUR');

test('amounts are integers of a known currency', () => {
  assert.throws(() => money.amount(1.5, 'EUR'), RangeError);
  assert.throws(() => money.amount(1, 'XXX'), RangeError);
  assert.equal(money.isAmount(eur(1)), true);
  assert.equal(money.isAmount({}), false);
});

test('currencies are not mixed', () => {
  assert.throws(() => money.add(eur(1), money.amount(1, 'USD')), /cannot mix/);
  assert.deepEqual(money.sum([eur(1), eur(2)], 'EUR'), eur(3));
});

test('splitting loses no cent', () => {
  assert.deepEqual(money.allocate(eur(100), [1, 1, 1]), [eur(34), eur(33), eur(33)]);
  assert.throws(() => money.allocate(eur(100), []), RangeError);
});

test('taxes and discounts', () => {
  assert.deepEqual(money.grossOf(eur(1000), 19), eur(1190));
  assert.deepEqual(money.applyDiscount(eur(1000), { percent: 15 }), eur(850));
  assert.deepEqual(money.applyDiscount(eur(100), { off: eur(500) }), eur(0));
});

test('amounts are read and written', () => {
  assert.equal(money.formatAmount(eur(-5)), '-0.05 €');
  assert.deepEqual(money.parseAmount('2.5', 'EUR'), eur(250));
  assert.throws(() => money.parseAmount('2.555', 'EUR'), RangeError);
  assert.deepEqual(money.convert(eur(1000), 'JPY', 160), money.amount(1600, 'JPY'));
});

test('halves go to the even neighbour', () => {
  assert.deepEqual([0.5, 1.5, 2.5, -0.5].map(money.roundHalfEven), [0, 2, 2, 0]);
});
