/** A queue with two ends; both ends in constant time. */
export class Deque {
  #items = new Map();
  #first = 0;
  #last = -1;

  get size() {
    return this.#last - this.#first + 1;
  }

  push(item) {
    this.#last += 1;
    this.#items.set(this.#last, item);
  }

  unshift(item) {
    this.#first -= 1;
    this.#items.set(this.#first, item);
  }

  shift() {
    if (this.size === 0) return undefined;
    const item = this.#items.get(this.#first);
    this.#items.delete(this.#first);
    this.#first += 1;
    return item;
  }

  pop() {
    if (this.size === 0) return undefined;
    const item = this.#items.get(this.#last);
    this.#items.delete(this.#last);
    this.#last -= 1;
    return item;
  }
}
