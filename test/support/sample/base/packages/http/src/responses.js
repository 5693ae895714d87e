export function json(value, status = 200) {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

/** Redirects within the site alone: anything else would lead customers away. */
export function redirect(path, status = 303) {
  if (!/^\/(?![/\\])/.test(path)) throw new RangeError(`not a path of this site: ${path}`);
  return { status, headers: { location: path }, body: '' };
}
