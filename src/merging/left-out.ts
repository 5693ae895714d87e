import type { LeftOut } from '../domain/candidate.ts';
import type { Verdict } from '../domain/verification.ts';
import type { Conflict } from './merge-patches.ts';
import type { MergePatch } from './port.ts';

/** Why a patch is not in the candidate, in words for people. */

/** It makes the checks fail. */
export function condemn({ subtaskId, row }: MergePatch, { newFailures }: Verdict): LeftOut {
  const reason = `with it, these fail: ${some(newFailures)}`;
  return { subtaskId, row, code: 'verification', reason, against: null };
}

export function explain({ patch, with: other, paths }: Conflict, targetRef: string): LeftOut {
  const where = paths.length === 0 ? '' : ` in ${some(paths)}`;
  const opponent = other === null ? targetRef : `row ${other.row} (${other.title})`;
  return {
    subtaskId: patch.subtaskId,
    row: patch.row,
    code: 'conflict',
    reason: `conflicts with ${opponent}${where}`,
    against: other?.subtaskId ?? null,
  };
}

/** The verifications are used up, and it is in no set that passed. */
export function giveUp({ subtaskId, row }: MergePatch): LeftOut {
  const reason =
    'the checks fail with all patches together, and it was not found in time whether this one is at fault';
  // No `verification`: nothing speaks against it, so it is not made anew.
  return { subtaskId, row, code: 'undecided', reason, against: null };
}

/** The first few of a list, the rest as a number. */
function some(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length <= 5 ? shown : `${shown} and ${names.length - 5} more`;
}
