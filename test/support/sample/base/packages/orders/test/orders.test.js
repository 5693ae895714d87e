import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDate } from '../../dates/src/index.js';
import { amount, formatAmount } from '../../money/src/index.js';
import * as orders from '../src/index.js';

const eur = (minor) => amount(minor, 'EUR');

function shop() {
  const catalogue = new orders.Catalogue();
  catalogue.add({ sku: 'G1', title: 'Green Tea', price: eur(450), grams: 100 });
  catalogue.add({ sku: 'B1', title: 'Black Tea', price: eur(390), grams: 250 });
  return catalogue;
}

test('a cart adds up', () => {
  const cart = new orders.Cart(shop()).add('G1', 2).add('B1').add('G1');
  assert.deepEqual(cart.total, eur(1740));
  assert.equal(cart.lines.length, 2);
  assert.throws(() => cart.add('X'), /no such product/);
});

test('products are found by the beginning of their name', () => {
  assert.deepEqual(
    shop()
      .search('gre')
      .map((product) => product.sku),
    ['G1'],
  );
});

test('shipping goes by weight', () => {
  assert.equal(formatAmount(orders.shippingCost([{ grams: 100, count: 6 }], eur(100))), '5.90 €');
  assert.equal(formatAmount(orders.shippingCost([], eur(5000))), '0.00 €');
});

test('coupons end', () => {
  assert.deepEqual(orders.couponDiscount('WINTER', parseDate('2026-12-31')), { percent: 15 });
  assert.equal(orders.couponDiscount('WINTER', parseDate('2027-01-01')), null);
  assert.equal(orders.couponDiscount('toString', parseDate('2027-01-01')), null);
});

test('deliveries skip weekends', () => {
  assert.deepEqual(orders.deliveryDate(parseDate('2026-11-27'), 9), parseDate('2026-12-01'));
});

test('an invoice is written', () => {
  const cart = new orders.Cart(shop()).add('G1', 2);
  const text = orders.invoiceOf({
    number: orders.invoiceNumber(2026, 42),
    date: parseDate('2026-11-29'),
    address: { name: 'Ada', street: 'Weg 1', zip: '10115', city: 'Berlin' },
    lines: cart.lines,
    total: cart.total,
    shipping: eur(390),
    discount: { percent: 10 },
  });
  assert.match(text, /Invoice 2026-000042 of 29 Nov 2026/);
  assert.match(text, /To pay +12\.84 €/);
});

test('orders change state over http', () => {
  const store = new Map([['1', { id: '1', state: 'open' }]]);
  const api = orders.createApi(store);
  assert.equal(api.handle({ method: 'POST', path: '/orders/1/pay' }).status, 200);
  assert.equal(store.get('1').state, 'paid');
  assert.throws(() => api.handle({ method: 'POST', path: '/orders/1/arrive' }), /cannot arrive/);
});

test('stock is promised wholly or not at all', () => {
  const stock = new orders.Stock();
  stock.receive('G1', 2);
  assert.deepEqual(stock.reserve([{ sku: 'G1', count: 3 }]), { ok: false, short: ['G1'] });
  assert.deepEqual(stock.reserve([{ sku: 'G1', count: 2 }]), { ok: true, short: [] });
});

test('picking and refunds', () => {
  const list = orders.pickingList([{ id: 1, lines: [{ sku: 'G1', count: 1 }] }], () => 'A');
  assert.deepEqual(list, [{ shelf: 'A', items: [{ order: 1, sku: 'G1', count: 1 }] }]);
  assert.deepEqual(orders.refund({ paid: eur(10) }, eur(4)).paid, eur(6));
  assert.throws(() => orders.refund({ paid: eur(1) }, eur(4)), RangeError);
});
