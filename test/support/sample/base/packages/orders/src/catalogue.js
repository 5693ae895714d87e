import { LruCache, sortBy, Trie } from '../../collections/src/index.js';
import { slugify } from '../../text/src/index.js';

/** What the shop sells, by stock keeping unit. */
export class Catalogue {
  #products = new Map();
  #names = new Trie();
  #searches = new LruCache(100);

  add(product) {
    this.#products.set(product.sku, { ...product, slug: slugify(product.title) });
    this.#names.add(`${slugify(product.title)} ${product.sku}`);
  }

  get(sku) {
    const product = this.#products.get(sku);
    if (product === undefined) throw new RangeError(`no such product: ${sku}`);
    return product;
  }

  /** Products whose name begins with the text. */
  search(text) {
    const prefix = slugify(text);
    const known = this.#searches.get(prefix);
    if (known !== undefined) return known;
    const skus = this.#names.startingWith(prefix).map((entry) => entry.slice(entry.lastIndexOf(' ') + 1));
    const found = sortBy(
      skus.map((sku) => this.get(sku)),
      (product) => product.title,
    );
    this.#searches.set(prefix, found);
    return found;
  }
}
