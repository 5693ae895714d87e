import { formatDate } from '../../dates/src/index.js';
import { add, applyDiscount, formatAmount, taxOf } from '../../money/src/index.js';
import { fill, padColumns } from '../../text/src/index.js';
import { addressLines } from './address.js';

const taxRate = 7;

/** An invoice as text. */
export function invoiceOf({ number, date, address, lines, total, shipping, discount }) {
  const reduced = discount === null ? total : applyDiscount(total, discount);
  const net = add(reduced, shipping);
  const tax = taxOf(net, taxRate);
  const table = padColumns([
    ...lines.map((line) => [`${line.count} x`, line.title, formatAmount(line.total)]),
    ['', 'Shipping', formatAmount(shipping)],
    ['', `Tax ${taxRate} %`, formatAmount(tax)],
    ['', 'To pay', formatAmount(add(net, tax))],
  ]);
  const head = fill('Invoice {number} of {date}', { number, date: formatDate(date, 'short') });
  return [...addressLines(address), '', head, '', ...table].join('\n');
}
