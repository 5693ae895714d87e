/** A binary heap: the item of the least rank comes first, equals in any order. */
export class PriorityQueue {
  #heap = [];
  #rank;

  constructor(rank = (item) => item) {
    this.#rank = rank;
  }

  get size() {
    return this.#heap.length;
  }

  push(item) {
    this.#heap.push(item);
    let at = this.#heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop() {
    const top = this.#heap[0];
    const last = this.#heap.pop();
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return top;
  }

  #sink() {
    for (let at = 0; ; ) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#heap.length && this.#before(child, least)) least = child;
      }
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #before(a, b) {
    return this.#rank(this.#heap[a]) < this.#rank(this.#heap[b]);
  }

  #swap(a, b) {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b], this.#heap[a]];
  }
}
