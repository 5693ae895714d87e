import { multiply, sum } from '../../money/src/index.js';

/** What a customer is about to buy. */
export class Cart {
  #lines = new Map();
  #catalogue;
  #currency;

  constructor(catalogue, currency = 'EUR') {
    this.#catalogue = catalogue;
    this.#currency = currency;
  }

  add(sku, count = 1) {
    if (!Number.isInteger(count) || count < 1) throw new RangeError(`count must be at least 1, got ${count}`);
    this.#catalogue.get(sku);
    this.#lines.set(sku, (this.#lines.get(sku) ?? 0) + count);
    return this;
  }

  remove(sku) {
    this.#lines.delete(sku);
    return this;
  }

  get lines() {
    return [...this.#lines].map(([sku, count]) => {
      const product = this.#catalogue.get(sku);
      return {
        sku,
        count,
        title: product.title,
        grams: product.grams,
        total: multiply(product.price, count),
      };
    });
  }

  get total() {
    return sum(
      this.lines.map((line) => line.total),
      this.#currency,
    );
  }
}
