/** `1 cup`, `2 cups`; irregular plurals are given. */
export function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}
