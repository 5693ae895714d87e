/** The product weakened by one line, and the attacks that must notice. */
export interface Weakness {
  /** What is no longer so. */
  readonly what: string;
  readonly file: string;
  /** Stands in the file once. */
  readonly from: string;
  readonly to: string;
  /** Names of attacks: each of them is not contained any more. */
  readonly noticed: readonly string[];
}

export const within = (
  file: string,
  all: readonly (readonly [what: string, from: string, to: string, ...noticed: string[]])[],
): Weakness[] => all.map(([what, from, to, ...noticed]) => ({ file, what, from, to, noticed }));
