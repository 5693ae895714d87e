import type { LeftOut } from '../domain/candidate.ts';
import type { Culprit, EndedRow, RerunAction } from '../domain/graph.ts';
import type { DecideLimits } from './limits.ts';

/**
 * What a candidate left out runs again where it may: after red checks with their output, after a conflict on the new
 * base, and at last behind the patch it collides with. By integrating row; a row without any is done.
 */
export function rerunsOf(
  integrations: readonly EndedRow[],
  culprits: readonly Culprit[],
  limits: DecideLimits,
): Map<string, RerunAction[]> {
  const known = new Map(culprits.map((culprit) => [culprit.id, culprit]));
  const edges: Edge[] = [];
  const reruns = integrations.flatMap((integration) =>
    (integration.candidate?.leftOut ?? []).flatMap((out) => {
      const culprit = known.get(out.subtaskId);
      const how = culprit === undefined ? null : mayRerun(culprit, out, limits, edges);
      if (culprit === undefined || how === null) return [];
      return [{ integration, culprit, out, ...how }];
    }),
  );
  const all = new Set(reruns.map(({ culprit }) => culprit.id));
  const byIntegration = Map.groupBy(reruns, ({ integration }) => integration.id);
  return new Map(
    [...byIntegration].map(([id, list]) => [
      id,
      list.map(({ integration: { candidate }, culprit, out, cause, behind }): RerunAction => {
        const above = culprit.above.filter((other) => all.has(other));
        const after = behind === null ? above : [...above, behind];
        // On the candidate it finds what the others made; what it builds upon is added to that. After a last conflict
        // it begins with the head and the patch it collided with.
        const base = behind === null ? (candidate?.commit ?? candidate?.targetSha ?? null) : null;
        return { type: 'rerun', id: culprit.id, cause, feedback: out.reason, base, after };
      }),
    ]),
  );
}

/** A row that is to wait for another. */
interface Edge {
  readonly culprit: Culprit;
  readonly behind: string;
}

/** Null: it stays left out. `edges`: those that were added so far; one that is added here joins them. */
function mayRerun(
  culprit: Culprit,
  { code, against }: LeftOut,
  limits: DecideLimits,
  edges: Edge[],
): (Pick<RerunAction, 'cause'> & { readonly behind: string | null }) | null {
  // What failed by itself is over, and what another row builds upon at this moment must not change under it.
  if (culprit.status !== 'succeeded' || culprit.blocked) return null;
  if (code === 'verification') {
    const more = culprit.verificationReruns < limits.verificationReruns;
    return more ? { cause: 'verification', behind: null } : null;
  }
  if (code !== 'conflict') return null;
  if (culprit.conflictReruns < limits.conflictReruns) return { cause: 'conflict', behind: null };
  const once = limits.conflictReruns > 0 && culprit.conflictReruns === limits.conflictReruns;
  if (!once || against === null) return null;
  if (culprit.above.includes(against) || makesCycle(culprit, against, edges)) return null;
  edges.push({ culprit, behind: against });
  return { cause: 'conflict', behind: against };
}

/** Whether `behind` waits for the culprit already, be it through edges that were added just now. */
function makesCycle(culprit: Culprit, behind: string, edges: readonly Edge[]): boolean {
  const below = new Set([culprit.id, ...culprit.below]);
  for (let size = 0; size < below.size; ) {
    size = below.size;
    for (const edge of edges) {
      if (!below.has(edge.behind)) continue;
      for (const id of [edge.culprit.id, ...edge.culprit.below]) below.add(id);
    }
  }
  return below.has(behind);
}
