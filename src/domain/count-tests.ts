/**
 * How many tests a run had, as its runner sums them up. A patch can make tests vanish without one failing (code
 * under test that ends the process with code 0 does); a count that shrinks tells.
 */

/** One per known runner: each match is one run, its groups are numbers that add up. */
const summaries: readonly RegExp[] = [
  // node --test, both reporters
  /^(?:# |\u2139 )tests (\d+)$/gm,
  // Jest: `Tests:  1 failed, 2 passed, 3 total`
  /^Tests: .*?\b(\d+) total$/gm,
  // Vitest: `Tests  1 failed | 2 passed (3)`
  /^ *Tests {2}.*\((\d+)\)$/gm,
  // Mocha: `12 passing (1s)` and `1 failing`
  /^ *(\d+) (?:passing|failing)\b/gm,
  // pytest: `== 1 failed, 2 passed in 0.1s ==`
  /^=+ (?:(\d+) failed, )?(\d+) passed\b.*=$/gm,
  // unittest
  /^Ran (\d+) tests? in /gm,
  // cargo
  /^test result: .*?\b(\d+) passed; (\d+) failed/gm,
];
/** Node counts a file in which no test ran as a test of its own, named by its path. */
const emptyFiles = /^(?:\u2714 |ok \d+ - )\S+\.[cm]?[jt]sx?(?: \([\d.]+ms\))?$/gm;
/** Colours of a terminal. */
const colours = new RegExp(`${String.fromCharCode(27)}\\[[\\d;]*m`, 'g');
/** Go counts no tests; the packages it tested are counted. */
const goPackage = /^(?:ok|FAIL)\s+\S+\s+(?:\(cached\)|[\d.]+s)/gm;

/** Null: no runner that is known says how many. */
export function countTests(output: string): number | null {
  const plain = output.replaceAll(colours, '').replaceAll('\r\n', '\n');
  let total: number | null = null;
  for (const summary of summaries)
    for (const match of plain.matchAll(summary))
      total = (total ?? 0) + match.slice(1).reduce((sum, digits) => sum + Number(digits ?? 0), 0);
  if (total !== null) return Math.max(0, total - [...plain.matchAll(emptyFiles)].length);
  const packages = [...plain.matchAll(goPackage)].length;
  return packages === 0 ? null : packages;
}
