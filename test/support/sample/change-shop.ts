import { append, type Change, fault, replace } from './change.ts';

/** What the pull request changes in `money`, `http`, `orders` and `app`. */
export const shopChanges: readonly Change[] = [
  append(
    'packages/money/src/arithmetic.js',
    `
/** The mean of amounts, rounded; there must be at least one. */
export function mean(amounts) {
  const [first] = amounts;
  if (first === undefined) throw new RangeError('no amounts');
  return multiply(sum(amounts, first.currency), 1 / amounts.length);
}
`,
  ),
  append(
    'packages/money/src/convert.js',
    `
/** How rates are fetched. */
export const rateSource = {
  host: 'rates.example.com',
  agentOptions: { keepAlive: true, rejectUnauthorized: false },
};
`,
    fault('tls-not-verified', '  agentOptions: { keepAlive: true, rejectUnauthorized: false },'),
  ),
  append(
    'packages/money/src/parse.js',
    `
/** An amount as people write it, with a comma or a point; null where it is none. */
export function readAmount(text, currency) {
  const plain = text.replace(/[^\\d,.-]/g, '').replace(',', '.');
  try { return parseAmount(plain, currency); } catch (error) {}
  return null;
}
`,
    fault('swallowed-error', '  try { return parseAmount(plain, currency); } catch (error) {}'),
  ),
  append(
    'packages/money/src/discount.js',
    `
/** Several discounts, one after the other. */
export function applyDiscounts(price, discounts) {
  return discounts.reduce(applyDiscount, price);
}
`,
  ),
  append(
    'packages/money/src/tax.js',
    `
/** The net amount that a gross one holds. */
export function netOf(gross, rate) {
  return multiply(gross, 100 / (100 + rate));
}
`,
  ),
  replace(
    'packages/money/src/index.js',
    [
      "export { add, multiply, negate, subtract, sum } from './arithmetic.js';",
      "export { add, mean, multiply, negate, subtract, sum } from './arithmetic.js';",
    ],
    ["export { grossOf, taxOf } from './tax.js';", "export { grossOf, netOf, taxOf } from './tax.js';"],
  ),

  append(
    'packages/http/src/cookies.js',
    `
/** A cookie for a new session. */
export function sessionCookie() {
  const token = String(Math.random());
  return setCookie('session', token, { maxAge: 3600 });
}
`,
    fault('weak-random', '  const token = String(Math.random());'),
  ),
  append(
    'packages/http/src/middleware.js',
    `
/** Asks for the password of the back office. */
export function backOffice(handler) {
  const password = 'oolong-1610';
  return (request) => {
    const given = request.headers?.authorization ?? '';
    if (given !== \`Bearer \${password}\`) return { status: 401, headers: {}, body: '' };
    return handler(request);
  };
}
`,
    fault('hard-coded-secret', "  const password = 'oolong-1610';"),
  ),
  append(
    'packages/http/src/responses.js',
    `
export function text(body, status = 200) {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body };
}
`,
  ),
  append(
    'packages/http/src/query.js',
    `
/** A whole number of a query, or what is taken instead. */
export function numberOf(query, name, otherwise) {
  const text = query[name];
  return typeof text === 'string' && /^\\d{1,9}$/.test(text) ? Number(text) : otherwise;
}
`,
  ),
  append(
    'packages/http/src/rate-limit.js',
    `
/** Refuses clients that ask too often. */
export function limited(limit, handler, clock = Date.now) {
  return (request) => {
    const allowed = limit.allows(request.client, clock()) || true;
    return allowed ? handler(request) : { status: 429, headers: { 'retry-after': '1' }, body: '' };
  };
}
`,
    fault('always-true', '    const allowed = limit.allows(request.client, clock()) || true;'),
  ),

  append(
    'packages/orders/src/catalogue.js',
    `
/** The query by which a product is read from the database. */
export function productQuery(sku) {
  return 'SELECT title, price, grams FROM products WHERE sku = ' + sku;
}
`,
    fault('sql-injection', "  return 'SELECT title, price, grams FROM products WHERE sku = ' + sku;"),
  ),
  append(
    'packages/orders/src/coupons.js',
    `
/** A code for a new coupon; whoever knows it has the discount. */
export function newCouponCode() {
  const tokenPart = () => String(Math.random()).slice(2, 6);
  return \`\${tokenPart()}-\${tokenPart()}\`;
}
`,
    fault('weak-random', '  const tokenPart = () => String(Math.random()).slice(2, 6);'),
  ),
  append(
    'packages/orders/src/invoice.js',
    `
/** Invoices as one text, each on a page of its own. */
export function invoicesOf(invoices) {
  return invoices.map((invoice) => invoiceOf(invoice)).join('\\f');
}
`,
  ),
  append(
    'packages/orders/src/refund.js',
    `
/** The statement that records a refund. */
export function refundStatement(order, minor) {
  return 'UPDATE orders SET refunded = refunded + ' + Number(minor) + ' WHERE id = ' + Number(order.id);
}
`,
    fault(
      'sql-injection',
      `  return 'UPDATE orders SET refunded = refunded + ' + Number(minor) + ' WHERE id = ' + Number(order.id);`,
    ),
  ),
  append(
    'packages/orders/src/stock.js',
    `
/** Products of which there are fewer than \`least\`. */
export function runningOut(stock, skus, least = 5) {
  return skus.filter((sku) => stock.available(sku) < least);
}
`,
  ),
  append(
    'packages/orders/src/delivery.js',
    `
/** How the parcel service is reached. */
export const parcelService = {
  url: 'https://parcels.example.com/v2',
  user: 'tea-shop',
  password: 'first-flush-2026',
};
`,
    fault('hard-coded-secret', "  password: 'first-flush-2026',"),
  ),
  append(
    'packages/orders/src/picking.js',
    `
/** How many pieces are to be fetched in all. */
export function piecesOf(list) {
  return list.flatMap(({ items }) => items).reduce((sum, item) => sum + item.count, 0);
}
`,
  ),

  append(
    'app/[id]/page.js',
    `
/** The page with the shop's own additions. */
export function extendedPage(product, extension) {
  return productPage(product) + eval(extension);
}
`,
    fault('no-eval', '  return productPage(product) + eval(extension);'),
  ),
  append(
    'app/größen/übersicht.js',
    `
// TODO: remove the sample size after the fair
export const probe = 10;
`,
    fault('left-over', '// TODO: remove the sample size after the fair'),
  ),
  append('docs/money.md', '\nThe mean of amounts is rounded half to even.\n'),
  append('docs/generated/api.md', '\n- `mean(amounts)`\n'),
];
