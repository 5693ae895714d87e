/** A cache that forgets what was not used for longest. */
export class LruCache {
  #entries = new Map();
  #limit;

  constructor(limit) {
    if (!(limit >= 1)) throw new RangeError(`limit must be at least 1, got ${limit}`);
    this.#limit = limit;
  }

  get size() {
    return this.#entries.size;
  }

  get(key) {
    if (!this.#entries.has(key)) return undefined;
    const value = this.#entries.get(key);
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key, value) {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#entries.keys().next().value);
    return this;
  }
}
