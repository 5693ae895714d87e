import { HttpError } from './http-error.js';

/** Routes such as `GET /orders/:id`. */
export class Router {
  #routes = [];

  add(method, pattern, handler) {
    const names = [];
    const source = pattern.replace(/:(\w+)/g, (_, name) => {
      names.push(name);
      return '([^/]+)';
    });
    this.#routes.push({ method, names, expression: new RegExp(`^${source}$`), handler });
    return this;
  }

  handle(request) {
    let pathKnown = false;
    for (const { method, names, expression, handler } of this.#routes) {
      const match = expression.exec(request.path);
      if (match === null) continue;
      pathKnown = true;
      if (method !== request.method) continue;
      const values = match.slice(1).map(decodeURIComponent);
      return handler({ ...request, params: Object.fromEntries(names.map((name, i) => [name, values[i]])) });
    }
    throw pathKnown ? new HttpError(405, 'method not allowed') : new HttpError(404, 'not found');
  }
}
