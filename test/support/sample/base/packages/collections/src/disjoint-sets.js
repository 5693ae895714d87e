/** Which things are connected (union-find). */
export class DisjointSets {
  #parent = new Map();

  find(item) {
    if (item === undefined) throw new TypeError('nothing to find');
    const parent = this.#parent.get(item) ?? item;
    if (parent === item) return item;
    const root = this.find(parent);
    this.#parent.set(item, root);
    return root;
  }

  join(a, b) {
    this.#parent.set(this.find(a), this.find(b));
  }

  connected(a, b) {
    return this.find(a) === this.find(b);
  }
}
