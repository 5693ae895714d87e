import fc from 'fast-check';
import type { Plan, PlannedRow } from '../../../src/domain/matrix.ts';
import type { DecideLimits } from '../../../src/scheduling/limits.ts';
import { newPlan, newRow } from '../tasks.ts';

/** Random plans that hold (no cycle, overlapping scopes in order) and what happens while they run. */

export interface History {
  readonly plan: Plan;
  readonly limits: DecideLimits;
  readonly parallel: number;
  /** After the last of them everything succeeds. */
  readonly events: readonly Event[];
  /** What the candidates leave out, one after the other: a bit for each patch. After the last of them nothing. */
  readonly leftOut: readonly number[];
}

export interface Event {
  readonly kind: (typeof kinds)[number];
  /** Which of those it could be about. */
  readonly pick: number;
  /** Whether the scheduler looks afterwards. */
  readonly advance: boolean;
}

const kinds = [
  ...['succeed', 'succeed', 'succeed', 'succeed', 'succeed', 'ask_for_rows'],
  ...['transient', 'too_big', 'time_out', 'verification', 'verification', 'conflict', 'permanent', 'budget'],
  ...['memory', 'die', 'release', 'late', 'foreign', 'twice', 'cancel'],
] as const;

const event: fc.Arbitrary<Event> = fc.record({
  kind: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...kinds.filter((kind) => kind !== 'cancel')) },
    { weight: 1, arbitrary: fc.constant('cancel' as const) },
  ),
  pick: fc.nat(1 << 20),
  advance: fc.boolean(),
});

const limits = fc.record<DecideLimits>({
  retries: fc.nat(2),
  taskRetries: fc.nat(6),
  deaths: fc.integer({ min: 1, max: 3 }),
  splitDepth: fc.nat(3),
  verificationReruns: fc.nat(2),
  conflictReruns: fc.nat(2),
  // A ceiling that is met, one between two steps, and one below the default.
  memory: fc.constantFrom(
    { baseMib: 512, ceilingMib: 2048 },
    { baseMib: 512, ceilingMib: 1500 },
    { baseMib: 512, ceilingMib: 256 },
  ),
});

export const files = Array.from({ length: 24 }, (_, index) => `src/f${index}.js`);

export function histories(size: {
  maxRows: number;
  minRows?: number;
  maxEvents: number;
}): fc.Arbitrary<History> {
  return fc.record({
    plan: plans(size.minRows ?? 0, size.maxRows),
    limits,
    parallel: fc.integer({ min: 1, max: 6 }),
    events: fc.array(event, { maxLength: size.maxEvents, size: 'max' }),
    leftOut: fc.array(fc.nat(0xffff), { maxLength: size.maxEvents === 0 ? 0 : 12, size: 'max' }),
  });
}

function plans(minLength: number, maxLength: number): fc.Arbitrary<Plan> {
  const row = fc.record({
    // Of a large plan most rows have files of their own, as in real ones.
    writes: fc.uniqueArray(fc.nat(maxLength > 50 ? 5000 : files.length - 1), { minLength: 1, maxLength: 4 }),
    edges: fc.array(fc.nat(), { maxLength: 3 }),
    complexity: fc.integer({ min: 1, max: 20 }),
    waitsFor: fc.constantFrom('success' as const, 'success' as const, 'end' as const),
    issue: fc.constantFrom(1, 2),
  });
  return fc
    .tuple(
      fc.array(row, { minLength, maxLength, size: 'max' }),
      fc.constantFrom('review', 'one', 'per_issue'),
    )
    .map(([rows, integrates]) => {
      const apart = integrates === 'per_issue';
      const agents = rows.map(({ writes, edges, complexity, waitsFor, issue }, index): PlannedRow => {
        const overlapping = rows
          .slice(0, index)
          .flatMap((other, at) => (other.writes.some((file) => writes.includes(file)) ? [at] : []));
        const asked = index === 0 ? [] : edges.map((edge) => edge % index);
        const paths = writes.map((file) => `src/f${file}.js`);
        return newRow(`Row ${index}`, {
          ...{ complexity, waitsFor, issue: apart ? issue : null },
          matrix: { ...newRow('x').matrix, writes: paths, inputs: paths },
          dependsOn: [...new Set([...asked, ...overlapping])],
        });
      });
      const issues = integrates === 'review' ? [] : apart ? [1, 2] : [null];
      const merges = issues.map((issue) =>
        newRow('Integrate', {
          ...{ kind: 'integrate', waitsFor: 'end', issue, complexity: 1 },
          matrix: { ...newRow('x').matrix, writes: [], inputs: [] },
          dependsOn: agents.flatMap((agent, index) => (agent.issue === issue ? [index] : [])),
        }),
      );
      return newPlan(...agents, ...merges);
    });
}
