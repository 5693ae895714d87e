import { plural } from './conclude.ts';

/** Names of rows that are told of a group. */
const named = 12;

/** Rows that share what is to be said of them, in the order of each group's first; null: nothing in common with any. */
export function groupRows<Row>(rows: readonly Row[], sayingOf: (row: Row) => string | null): Row[][] {
  const groups = new Map<string, Row[]>();
  const all: Row[][] = [];
  for (const row of rows) {
    const saying = sayingOf(row);
    const known = saying === null ? undefined : groups.get(saying);
    if (known !== undefined) known.push(row);
    else {
      const group = [row];
      if (saying !== null) groups.set(saying, group);
      all.push(group);
    }
  }
  return all;
}

/** `3 shards (a, b, c)`; the names are fit to be shown. */
export function groupName(names: readonly string[], word: string): string {
  const more = names.length > named ? `, and ${names.length - named} more` : '';
  return `${plural(names.length, word)} (${names.slice(0, named).join(', ')}${more})`;
}
