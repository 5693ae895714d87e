/** Go and Rust. */

/** `--- FAIL: TestA (0.00s)` lines, and after them `FAIL<tab>package`, which they belong to. */
export function failuresInGo(lines: readonly string[]): string[] {
  const names: string[] = [];
  let pending: string[] = [];
  for (const line of lines) {
    const test = /^\s*--- FAIL: (\S+)(?: \(|$)/.exec(line)?.[1];
    if (test !== undefined) pending.push(test);
    // The tests after it did not run.
    else if (/^(?:panic|fatal error): /.test(line)) pending.push('panic');
    const ended = /^(?:FAIL|ok {2})\t(\S+)(?:\s+(\[.+\]))?/.exec(line);
    if (ended === null) continue;
    const [text, unit = '', why] = ended;
    if (why !== undefined) pending.push(why.slice(1, -1));
    if (text.startsWith('FAIL')) {
      names.push(...(pending.length === 0 ? [unit] : pending.map((name) => `${unit}:${name}`)));
    }
    pending = [];
  }
  // Output that was cut: what a package did is still told by its tests.
  names.push(...pending.filter((name) => name !== 'panic'));
  return names;
}

/** `test a::b ... FAILED` below `Running <file>` or `Doc-tests <crate>`; and crates that do not compile. */
export function failuresInCargo(lines: readonly string[]): string[] {
  const names: string[] = [];
  let unit = '';
  for (const line of lines) {
    const running =
      /^\s+Running (?:unittests )?(\S+)(?: \(|$)/.exec(line) ?? /^\s+Doc-tests (\S+)$/.exec(line);
    if (running !== null) unit = running[1] ?? '';
    const test = /^test (.+) \.\.\. FAILED$/.exec(line)?.[1]?.replace(/ \(line \d+\)/, '');
    if (test !== undefined) names.push(unit === '' ? test : `${unit}:${test}`);
    const broken = /^error: could not compile `([^`]+)`/.exec(line)?.[1];
    if (broken !== undefined) names.push(`${broken}:does not compile`);
  }
  return names;
}
