/** Words by their beginnings. */
export class Trie {
  #root = { next: new Map(), end: false };

  add(word) {
    let node = this.#root;
    for (const char of word) {
      if (!node.next.has(char)) node.next.set(char, { next: new Map(), end: false });
      node = node.next.get(char);
    }
    node.end = true;
  }

  /** All words that begin with `prefix`, in the order they were added at each letter. */
  startingWith(prefix) {
    let node = this.#root;
    for (const char of prefix) {
      node = node.next.get(char);
      if (node === undefined) return [];
    }
    return [...this.#walk(node, prefix)];
  }

  *#walk(node, word) {
    if (node.end) yield word;
    for (const [char, child] of node.next) yield* this.#walk(child, word + char);
  }
}
