import { MultiMap, sortBy } from '../../collections/src/index.js';

/** What to fetch from which shelf, for several orders in one walk. */
export function pickingList(orders, shelfOf) {
  const byShelf = new MultiMap();
  for (const order of orders) {
    for (const line of order.lines) {
      byShelf.add(shelfOf(line.sku), { order: order.id, sku: line.sku, count: line.count });
    }
  }
  return sortBy(byShelf.keys(), (shelf) => shelf).map((shelf) => ({ shelf, items: byShelf.get(shelf) }));
}
