import { HttpError, json, Router } from '../../http/src/index.js';
import { nextState } from './order-state.js';

/** Orders over HTTP. `orders` is a map by id. */
export function createApi(orders) {
  const find = (id) => {
    const order = orders.get(id);
    if (order === undefined) throw new HttpError(404, `no order ${id}`);
    return order;
  };
  return new Router()
    .add('GET', '/orders/:id', ({ params }) => json(find(params.id)))
    .add('POST', '/orders/:id/:event', ({ params }) => {
      const order = find(params.id);
      const changed = { ...order, state: nextState(order.state, params.event) };
      orders.set(params.id, changed);
      return json(changed);
    });
}
