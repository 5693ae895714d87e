/** A query string as an object; repeated names make lists. */
export function parseQuery(text) {
  const query = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (!Object.hasOwn(query, name)) query[name] = value;
    else query[name] = [query[name], value].flat();
  }
  return query;
}

export function stringifyQuery(query) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of [value].flat()) if (item !== undefined) params.append(name, String(item));
  }
  return params.toString();
}
