/** pytest and unittest. */

/** The short summary at the end: `FAILED tests/test_a.py::test_b[x] - reason`. */
export function failuresInPytest(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const text = /^(?:FAILED|ERROR) (\S+\.py(?:::.*)?(?: - .*)?)$/.exec(line)?.[1];
    if (text === undefined) return [];
    // The reason is left out; a parameter in brackets may hold ` - ` too.
    const id = /^([^[]*?\[.*?\])(?: - .*)?$/.exec(text)?.[1] ?? text.split(' - ')[0] ?? text;
    const at = id.indexOf('::');
    return [at === -1 ? id : `${id.slice(0, at)}:${id.slice(at + 2)}`];
  });
}

/** `FAIL: test_a (module.Class.test_a)` below a ruler; before Python 3.11 without the last part. */
export function failuresInUnittest(lines: readonly string[]): string[] {
  return lines.flatMap((line, at) => {
    const match = /^(?:FAIL|ERROR): (\S+) \(([^()]*)\)/.exec(line);
    if (match === null || !/^={20,}$/.test(lines[at - 1] ?? '')) return [];
    const [, test = '', owner = ''] = match;
    return [owner.endsWith(`.${test}`) ? owner : `${owner}.${test}`];
  });
}
