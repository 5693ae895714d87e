/** How many of each product there are, and which of them are promised. */
export class Stock {
  #free = new Map();

  receive(sku, count) {
    this.#free.set(sku, this.available(sku) + count);
  }

  available(sku) {
    return this.#free.get(sku) ?? 0;
  }

  /** All lines or none. */
  reserve(lines) {
    const short = lines.filter((line) => this.available(line.sku) < line.count);
    if (short.length > 0) return { ok: false, short: short.map((line) => line.sku) };
    for (const line of lines) this.#free.set(line.sku, this.available(line.sku) - line.count);
    return { ok: true, short: [] };
  }
}
