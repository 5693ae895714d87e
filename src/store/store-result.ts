import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { fingerprint } from '../domain/finding.ts';
import { now } from './clock.ts';
import type { Executor } from './database.ts';
import type { AttemptResult } from './port/attempts.ts';
import { candidates, findings, patches, triages } from './schema.ts';

/** A statement takes 65,535 parameters, a finding some 17 of them; a linter may have thousands. */
const rowsAtOnce = 500;

/**
 * Stores the parts of a result, inside the transaction that accepts it. They take the place of what an earlier attempt
 * (`number` is 1-based) of the subtask gave.
 */
export async function storeResult(
  tx: Executor,
  owner: { taskId: string; subtaskId: string; number: number; agent: string },
  result: AttemptResult,
): Promise<void> {
  const { agent, number, ...ids } = owner;
  const { findings: found = [], patch, candidate, triage } = result;
  if (number > 1)
    await tx.execute(sql`with
      gone_findings as (delete from ${findings} where ${findings.subtaskId} = ${ids.subtaskId}),
      gone_patches as (delete from ${patches} where ${patches.subtaskId} = ${ids.subtaskId})
      delete from ${triages} where ${triages.subtaskId} = ${ids.subtaskId}`);
  const rows = found.map((finding, position) => ({
    ...finding,
    ...ids,
    id: randomUUID(),
    position,
    agent,
    fingerprint: fingerprint(finding),
  }));
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    await tx.insert(findings).values(rows.slice(from, from + rowsAtOnce));
  }
  if (patch !== undefined) await tx.insert(patches).values({ ...ids, ...patch });
  if (triage !== undefined) await tx.insert(triages).values({ ...ids, triage });
  if (candidate !== undefined)
    await tx
      .insert(candidates)
      .values({ ...ids, candidate })
      .onConflictDoUpdate({
        target: candidates.subtaskId,
        set: { candidate, createdAt: now },
      });
}
