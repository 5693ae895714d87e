/** Orders things after what they depend on. `dependencies` maps each to a list; a cycle is an error. */
export function topologicalOrder(dependencies) {
  const order = [];
  const state = new Map();
  const visit = (item, path) => {
    if (state.get(item) === 'done') return;
    if (state.get(item) === 'open') throw new Error(`cycle: ${[...path, item].join(' -> ')}`);
    state.set(item, 'open');
    for (const needed of dependencies.get(item) ?? []) visit(needed, [...path, item]);
    state.set(item, 'done');
    order.push(item);
  };
  for (const item of dependencies.keys()) visit(item, []);
  return order;
}
