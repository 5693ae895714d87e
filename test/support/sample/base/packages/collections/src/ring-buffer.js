/** Keeps the last `capacity` items. */
export class RingBuffer {
  #items;
  #next = 0;
  #count = 0;

  constructor(capacity) {
    this.#items = new Array(capacity);
  }

  get size() {
    return Math.min(this.#count, this.#items.length);
  }

  push(item) {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#items.length;
    this.#count += 1;
  }

  *[Symbol.iterator]() {
    const start = this.#count > this.#items.length ? this.#next : 0;
    for (let index = 0; index < this.size; index += 1) {
      yield this.#items[(start + index) % this.#items.length];
    }
  }
}
