/** A map from keys to lists. */
export class MultiMap {
  #lists = new Map();

  add(key, value) {
    const list = this.#lists.get(key);
    if (list === undefined) this.#lists.set(key, [value]);
    else list.push(value);
    return this;
  }

  get(key) {
    return this.#lists.get(key) ?? [];
  }

  keys() {
    return [...this.#lists.keys()];
  }
}
