import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GraphRow } from '../../../src/domain/graph.ts';
import { decide } from '../../../src/scheduling/decide.ts';

/** Plays a graph to its end against random results, applying actions as the store does. */

const ending = fc.constantFrom('succeeded', 'failed_transient', 'failed_permanent', 'lost' as const);

const graph = fc
  .array(fc.tuple(fc.array(fc.nat(), { maxLength: 3 }), fc.nat(20)), { maxLength: 40 })
  .map((rows) =>
    rows.map(
      ([edges, complexity], index): GraphRow => ({
        id: `r${index}`,
        row: index,
        status: 'waiting',
        dependsOn: index === 0 ? [] : [...new Set(edges.map((edge) => `r${edge % index}`))],
        waitsFor: 'success',
        kind: 'agent',
        complexity,
        failures: 0,
        deaths: 0,
        failure: null,
        notBefore: null,
        lastAttempt: null,
      }),
    ),
  );

describe('decide, played to the end', () => {
  it('ends every graph, starts nothing before its dependencies, and keeps the limit', () => {
    fc.assert(
      fc.property(
        graph,
        fc.integer({ min: 1, max: 6 }),
        fc.infiniteStream(fc.tuple(ending, fc.nat())),
        (start, parallel, results) => {
          const limits = { taskParallel: parallel, retries: 2, deaths: 3 };
          const rows = new Map(start.map((row) => [row.id, row]));
          const set = (id: string, change: Partial<GraphRow>) => {
            const row = rows.get(id);
            if (row === undefined) throw new Error(`no row ${id}`);
            rows.set(id, { ...row, ...change });
          };
          let now = 0;
          let outcome: string | null = null;
          for (let step = 0; outcome === null; step += 1) {
            expect(step).toBeLessThan(start.length * 8 + 2); // it always ends
            let wake: number | null = null;
            for (const action of decide([...rows.values()], limits, now)) {
              if (action.type === 'settle') outcome = action.outcome;
              else if (action.type === 'wake') wake = action.at;
              else if (action.type === 'start') {
                const row = rows.get(action.id);
                expect(row?.status).toBe('waiting');
                expect(row?.notBefore ?? 0).toBeLessThanOrEqual(now);
                for (const on of row?.dependsOn ?? []) expect(rows.get(on)?.status).toBe('succeeded');
                set(action.id, { status: 'running', lastAttempt: 'running' });
              } else if (action.type === 'retry')
                set(action.id, { status: 'waiting', notBefore: action.notBefore });
              else
                set(action.id, {
                  status: action.type === 'fail' ? 'failed' : 'skipped',
                  failure: action.failure,
                });
            }
            const running = [...rows.values()].filter((row) => row.status === 'running');
            expect(running.length).toBeLessThanOrEqual(parallel);
            if (outcome !== null) {
              expect(running).toEqual([]);
              break;
            }
            const [result, pick] = results.next().value ?? ['succeeded', 0];
            const row = running[pick % Math.max(1, running.length)];
            if (row === undefined) {
              expect(wake).not.toBeNull(); // never stuck: somebody runs, or there is a time to look again
              now = wake ?? now;
            } else if (result === 'succeeded') set(row.id, { status: 'succeeded', lastAttempt: 'succeeded' });
            else if (result === 'lost') set(row.id, { lastAttempt: 'lost', deaths: row.deaths + 1 });
            else {
              const code = result === 'failed_transient' ? 'model_timeout' : 'command_failed';
              set(row.id, {
                lastAttempt: 'failed',
                failures: row.failures + 1,
                failure: { code, detail: '' },
              });
            }
          }
          const statuses = [...rows.values()].map((row) => row.status);
          const succeeded = statuses.filter((status) => status === 'succeeded').length;
          expect(statuses.every((status) => ['succeeded', 'failed', 'skipped'].includes(status))).toBe(true);
          expect(outcome).toBe(
            succeeded === statuses.length ? 'succeeded' : succeeded === 0 ? 'failed' : 'partial',
          );
        },
      ),
    );
  });
});
