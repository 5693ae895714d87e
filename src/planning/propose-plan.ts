import type { PlannerAgent, PlanProposal, PlanRequestText } from '../agents/port.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { type PlanFacts, type ValidRow, validatePlan } from './validate-plan.ts';

/** A plan of the model that holds, or why there is none. */
export type Proposed =
  | {
      readonly contract: string;
      readonly rows: readonly ValidRow[];
      /** Why the planner would not have them run side by side; mostly empty. */
      readonly serialReason: string;
    }
  | { readonly faults: readonly string[] };

/**
 * Asks for a plan, and once more with all its faults named. Rows of the second plan that would collide are ordered
 * rather than refused. Faults come back where no plan holds or the model gives none that can be read; what the
 * gateway throws besides (it cannot be reached, the budget is used up) is thrown.
 */
export async function proposePlan(
  propose: PlannerAgent['propose'],
  request: PlanRequestText,
  facts: Omit<PlanFacts, 'collisions'>,
): Promise<Proposed> {
  const first = await readable(() => propose(request, null, []));
  if ('faults' in first) return first;
  const checked = validatePlan(first.proposal, { ...facts, collisions: 'fault' });
  if ('rows' in checked) return proposed(first.proposal, checked.rows);

  const second = await readable(() => propose(request, first.proposal, checked.faults));
  // An answer that cannot be read leaves the first plan, which may want nothing but an order.
  const proposal = 'faults' in second ? first.proposal : second.proposal;
  const again = validatePlan(proposal, { ...facts, collisions: 'order' });
  return 'rows' in again ? proposed(proposal, again.rows) : again;
}

function proposed(proposal: PlanProposal, rows: readonly ValidRow[]): Proposed {
  return { contract: proposal.contract, rows, serialReason: proposal.serial_reason ?? '' };
}

async function readable(
  ask: () => Promise<PlanProposal>,
): Promise<{ proposal: PlanProposal } | { faults: string[] }> {
  try {
    return { proposal: await ask() };
  } catch (error) {
    const nonsense =
      error instanceof PatchfleetError && ['model_nonsense', 'context_exceeded'].includes(error.code);
    if (!nonsense) throw error;
    return { faults: [error.message] };
  }
}
