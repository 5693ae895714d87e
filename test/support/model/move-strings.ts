/** The demo's kind of change: string literals of JavaScript modules become constants of a module beside them. */

/** A literal where an expression may stand, on a line with no other quotes: nothing needs to be parsed. */
const literal = /(?<=(?:[([=?,:]|=>|return|\+) ?)'([^'\\]+)'(?!\s*:)/;

/**
 * Calls that move the literals of the row's inputs into the row's module under `src/config/`. Constants are named
 * `<file>Text<number>`. Nothing where the row has no such module or no literal.
 */
export function moveStrings(
  row: { readonly inputs: readonly string[]; readonly scope: readonly string[] },
  read: ReadonlyMap<string, readonly string[]>,
): { name: string; args: object }[] {
  const module = row.scope.find((path) => /\/src\/config\/[^/*]+\.js$/.test(path));
  if (module === undefined) return [];
  const constants: string[] = [];
  const edits = row.inputs.flatMap((path) => {
    const lines = read.get(path) ?? [];
    const names: string[] = [];
    const changed = lines.map((line) => {
      const text = movable(line, lines) ? literal.exec(line)?.[1] : undefined;
      if (text === undefined) return line;
      const name = `${camel(path)}Text${names.length + 1}`;
      names.push(name);
      constants.push(`export const ${name} = '${text}';`);
      return line.replace(literal, name);
    });
    if (names.length === 0) return [];
    const [first = ''] = lines;
    const start = `import { ${names.join(', ')} } from '${relativeTo(path, module)}';`;
    const edited = lines.flatMap((line, index) =>
      changed[index] === line ? [] : [{ path, old_text: line, new_text: changed[index] ?? line }],
    );
    // The first line alone may occur twice; with the ones after it, it does not.
    const head = lines.slice(0, 3).join('\n');
    const old = changed.slice(0, 3).join('\n');
    return [...edited, { path, old_text: old === '' ? first : old, new_text: `${start}\n${old || head}` }];
  });
  if (constants.length === 0) return [];
  return [
    { name: 'write_file', args: { path: module, content: `${constants.join('\n')}\n` } },
    ...edits.map((args) => ({ name: 'edit_file', args })),
  ];
}

function movable(line: string, lines: readonly string[]): boolean {
  return (
    !/^\s*(?:import|export .* from|\*|\/\/|\/\*)/.test(line) &&
    !/[`"/]/.test(line) &&
    line.split("'").length === 3 &&
    lines.filter((other) => other.includes(line.trim())).length === 1
  );
}

function camel(path: string): string {
  const name = (path.split('/').at(-1) ?? '').replace(/\.\w+$/, '');
  return name.replace(/[^A-Za-z0-9]+(.)/g, (_, letter: string) => letter.toUpperCase());
}

function relativeTo(path: string, module: string): string {
  const from = path.split('/').slice(0, -1);
  const to = module.split('/');
  let common = 0;
  while (common < from.length && from[common] === to[common]) common += 1;
  const up = '../'.repeat(from.length - common);
  return `${up || './'}${to.slice(common).join('/')}`;
}
