import { createHash } from 'node:crypto';
import type { TurnKeeper } from '../agents/port.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { decideResumption } from '../domain/resume.ts';
import type { Mirror } from '../github/port.ts';
import type { Sandbox } from '../sandbox/port.ts';
import type { Checkpoint } from '../store/port/checkpoints.ts';
import type { Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import { ClaimLost } from './heartbeat.ts';
import type { AttemptTools, Work } from './perform.ts';
import { putWorkspacePatch, takeWorkspacePatch } from './workspace-patch.ts';

/** Makes the keeper of an attempt's turns, for an agent in that sandbox over that commit. */
export type KeepTurns = (
  work: Work,
  tools: AttemptTools,
  place: { readonly sandbox: Sandbox; readonly mirror: Pick<Mirror, 'treeOf'>; readonly base: string },
) => TurnKeeper;

/** A checkpoint after each turn: what was said, what it cost, and what the files were then. */
export function createTurnKeeping(deps: {
  readonly store: Pick<Store, 'checkpoints'>;
  readonly log: Logger;
}): KeepTurns {
  const { checkpoints } = deps.store;
  return ({ claim, attempt, subtask, task }, tools, { sandbox, mirror, base }) => {
    const log = deps.log.child({ task: task.id, attempt: attempt.id, row: subtask.row });
    const { signal } = tools;
    let beginning = '';
    let known: Promise<string> | null = null;
    const tree = () => {
      known ??= mirror.treeOf(base);
      return known;
    };
    /** The workspace as it was last kept; null: as it was made. */
    let kept: Uint8Array | null = null;
    /** Why turns are not kept any more; null: they are. */
    let givenUp: string | null = null;

    const beginAnew = async (because: string) => {
      log.info({ because }, 'the row begins anew');
      await checkpoints.clear(claim);
      return [];
    };

    /** False: what the agent had cannot be put back. */
    const restore = async ({ patch }: Checkpoint): Promise<boolean> => {
      if (patch === null) return true;
      const { fits, whole, problem } = await putWorkspacePatch(sandbox, await tree(), patch, signal);
      if (!whole) {
        // The files are neither as before nor as after: another sandbox begins anew.
        await checkpoints.clear(claim);
        throw new PatchfleetError('sandbox_died', `the files could not be put back: ${problem}`);
      }
      kept = patch;
      return fits;
    };

    return {
      async resume(begins) {
        beginning = createHash('sha256').update(`${base}\n${begins}`).digest('hex');
        // Nobody can have kept anything before the first claim of a row.
        if (attempt.number === 1 && attempt.epoch === 1) return [];
        const checkpoint = await checkpoints.load(subtask.id);
        // Rows that are no whole run are overwritten or cleared here too.
        if (checkpoint === null) return beginAnew('no turn was kept');
        const decision = decideResumption(
          checkpoint,
          { attemptId: attempt.id, beginning },
          checkpoint.earlier,
        );
        if (!decision.goesOn) return beginAnew(decision.because);
        if (!(await restore(checkpoint))) {
          kept = null;
          return beginAnew('its files could not be put back');
        }
        tools.alive();
        log.info({ turns: checkpoint.turns.length }, 'the row goes on from its last checkpoint');
        return checkpoint.turns;
      },

      async keep(turn, touched) {
        if (givenUp !== null) return;
        let patch: Uint8Array | null = null;
        if (touched) {
          const taken = await takeWorkspacePatch(sandbox, await tree(), signal);
          tools.alive();
          if ('unkept' in taken) {
            givenUp = taken.unkept;
            log.warn(
              { turn: turn.turn, because: givenUp },
              'the files cannot be kept: no further checkpoint',
            );
            await checkpoints.clear(claim);
            return;
          }
          if (!sameBytes(taken.patch, kept)) patch = kept = taken.patch;
        }
        const saved = await checkpoints.save(claim, { ...turn, beginning, patch });
        if (!saved) throw new ClaimLost(`after turn ${turn.turn}`);
      },
    };
  };
}

function sameBytes(patch: Uint8Array, before: Uint8Array | null): boolean {
  return before === null ? patch.length === 0 : Buffer.compare(patch, before) === 0;
}
