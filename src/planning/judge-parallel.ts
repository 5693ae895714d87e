import { longestChain } from '../domain/parallelism.ts';

/** Whether the rows of a plan gain by running side by side. Pure. */

/** What there is to verify the repository by. `declined`: the repository file says none, on purpose. */
export type Checks = 'found' | 'none_found' | 'declined';

/** From this many rows on their order is judged; two rows in order cost nothing. */
const leastRows = 3;
/** A plan is serial where its longest chain has this part of the rows. */
const serialPart = 0.75;

/**
 * Why a plan runs as one subtask, in plain words that end a sentence; empty: nothing speaks against running its rows
 * side by side. `given`: the planner's own reason, e.g. that the request is not settled; text of a model.
 */
export function whySerial(
  rows: readonly { readonly dependsOn: readonly number[] }[],
  { given, checks }: { readonly given: string; readonly checks: Checks },
): string {
  const said = given.replace(/\s+/g, ' ').trim();
  if (said !== '') return said.slice(0, maxReason).toWellFormed();
  if (rows.length < 2) return '';
  const strong = strongDependencies(rows.map(({ dependsOn }) => dependsOn));
  if (strong !== '') return strong;
  return checks === 'none_found'
    ? 'the repository has no checks, so work done side by side could not be verified together (name some in `verify.commands`; an empty list there means that none are wanted)'
    : '';
}

const maxReason = 500;

/**
 * Rows over those of the longest chain is how much faster they can be at best. How many pairs have an order says
 * nothing of it: layers of many rows each have nearly all, and run side by side.
 */
function strongDependencies(dependsOn: readonly (readonly number[])[]): string {
  const count = dependsOn.length;
  const chain = longestChain(dependsOn).length;
  return count >= leastRows && chain >= serialPart * count
    ? `its rows depend on one another: ${chain} of ${count} come one after the other`
    : '';
}
