/** One file of the sample's pull request, told as a change of the base. */
export interface Change {
  readonly path: string;
  /** Texts of the base and what stands in their place; each occurs exactly once. */
  readonly replace: readonly (readonly [from: string, to: string])[];
  /** Added at the end of the file. */
  readonly append: string;
  readonly faults: readonly Fault[];
}

/** A fault on a line of its own. `rule` is one of `plantedFaults` (test/support/model). */
export interface Fault {
  readonly rule: string;
  /** The whole line, with its indentation; it occurs once in the changed file. */
  readonly line: string;
}

export function append(path: string, text: string, ...faults: readonly Fault[]): Change {
  return { path, replace: [], append: text, faults };
}

export function replace(path: string, ...pairs: readonly (readonly [string, string])[]): Change {
  return { path, replace: pairs, append: '', faults: [] };
}

export function fault(rule: string, line: string): Fault {
  return { rule, line };
}
