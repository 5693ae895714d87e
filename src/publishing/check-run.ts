import type { Publication, Task } from '../store/port.ts';
import type { PublishingDeps } from './ask-github.ts';
import { contentFingerprint } from './content-fingerprint.ts';
import { readSections } from './read-sections.ts';
import { renderAnnotations, renderCheckRun } from './render-check-run.ts';
import type { Annotation } from './render-findings.ts';
import { writeRun } from './write-check-run.ts';

/** The check run of a head: one, whatever the number of tasks and pull requests. */

export function checkRunKey(task: Pick<Task, 'repositoryId' | 'headSha'>): string {
  return `check:${task.repositoryId}:${task.headSha}`;
}

/**
 * `ensure`: only that it exists. `progress`: its state, but not too often. `final`: its state once the reviews are
 * out, with the conclusion if all tasks of the head are through.
 */
export type CheckRunStep = 'ensure' | 'progress' | 'final';

export interface CheckRunDeps extends PublishingDeps {
  /** Least time between two updates of a running check run, milliseconds. */
  readonly updateMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Brings the check run to what the rows say. A refusal is recorded in its row, not thrown. */
export async function syncCheckRun(
  deps: CheckRunDeps,
  task: Task,
  step: CheckRunStep,
  signal: AbortSignal,
): Promise<void> {
  const key = checkRunKey(task);
  await deps.store.withLock(`publish:${key}`, async () => {
    const row = await deps.store.publications.get(key);
    if (step === 'ensure' && row !== null && row.githubId !== null) return;
    // What GitHub refused is tried once more when the work is over, or for a newer task; not for ever.
    const refused = row?.status === 'failed' && row.taskId === task.id;
    if (refused && (step !== 'final' || task.phase === 'finished')) return;
    const sections = await readSections(deps.store, task.repositoryId, task.headSha);
    if (sections.length === 0) return;
    const content = renderCheckRun(sections);
    const annotations =
      content.conclusion === null ? new Map<string, Annotation>() : renderAnnotations(sections);
    const fingerprint = contentFingerprint([content, [...annotations.keys()]]);
    if (row?.status === 'done' && row.fingerprint === fingerprint) return;
    const wait = content.conclusion === null ? tooSoon(deps, row) : 0;
    if (wait > 0) {
      await deps.queue.enqueue('publish', task.id, { delayMs: wait, priority: task.priority });
      return;
    }
    const client = await deps.github.client(task.installationId);
    const run = { deps, client, task, key, signal };
    const refusal = await writeRun(run, { content, annotations, fingerprint });
    if (refusal === null) return;
    deps.log.warn(
      { task: task.id, key, status: refusal.status, detail: refusal.detail },
      'check run refused',
    );
    await deps.store.publications.fail(key, { code: 'github_refused', detail: refusal.detail });
  });
}

function tooSoon(deps: CheckRunDeps, row: Publication | null): number {
  if (row === null || row.githubId === null || row.sentAt === null) return 0;
  const left = row.sentAt.getTime() + deps.updateMs - deps.now();
  // The clocks of database and process may differ: never wait longer than the interval.
  return Math.min(Math.max(0, left), deps.updateMs);
}
