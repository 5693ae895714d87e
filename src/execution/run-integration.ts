import type { Candidate } from '../domain/candidate.ts';
import { PatchfleetError } from '../domain/failure.ts';
import type { Merging } from '../merging/port.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import { configOf, openMirror, type WorkspacePorts } from './open-workspace.ts';
import type { Perform } from './perform.ts';
import { verificationContext } from './run-fix.ts';

/** The system's own row: what the agents' rows made becomes one verified candidate. */
export function createIntegrationWork(
  deps: WorkspacePorts & {
    readonly store: Pick<Store, 'views'>;
    readonly merging: Merging;
    readonly log: Logger;
  },
): Perform {
  return async (work, tools) => {
    const { task, subtask } = work;
    const config = configOf(task);
    const mirror = await openMirror(deps, task, tools.signal);
    const view = await deps.store.views.task(task.id);
    if (view === null) throw new PatchfleetError('internal', `the task ${task.id} is gone`);
    const checks = await deps.merging.checksOf(mirror, task.headSha, config);
    const candidate = await deps.merging.integrateRows({
      mirror,
      view,
      row: subtask,
      config,
      context: verificationContext(work, tools, mirror.dir, checks),
    });
    tools.log(JSON.stringify({ type: 'candidate', ...candidate }));
    const { commit, merged, leftOut, verifications } = candidate;
    deps.log.info(
      {
        task: task.id,
        attempt: work.claim.attemptId,
        commit,
        rows: merged.length,
        leftOut: leftOut.length,
        verifications,
      },
      'patches merged',
    );
    return { summary: summaryOf(candidate), turns: 0, candidate };
  };
}

function summaryOf({ commit, merged, leftOut, verifications }: Candidate): string {
  const parts = [
    commit === null ? 'nothing is left to publish' : `${merged.length} merged and verified together`,
    ...(leftOut.length === 0 ? [] : [`${leftOut.length} left out`]),
    `${verifications} verification${verifications === 1 ? '' : 's'}`,
  ];
  return parts.join(', ');
}
