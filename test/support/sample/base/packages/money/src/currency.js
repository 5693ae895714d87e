const currencies = {
  EUR: { digits: 2, symbol: '€' },
  GBP: { digits: 2, symbol: '£' },
  JPY: { digits: 0, symbol: '¥' },
  USD: { digits: 2, symbol: '$' },
};

export function currencyOf(code) {
  if (!Object.hasOwn(currencies, code)) throw new RangeError(`unknown currency: ${code}`);
  return currencies[code];
}
