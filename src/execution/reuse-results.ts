import type { AgentConfig } from '../config/agent-config.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { filesOfRow, keysOf, mostAlike, type ResultKeys } from '../domain/result-key.ts';
import type { VerificationCommand } from '../domain/verification.ts';
import type { Mirror } from '../github/port.ts';
import type { CheckedPatch } from '../merging/port.ts';
import type { HarvestEntry } from '../sandbox/port.ts';
import type { ArtifactStore } from '../store/port/artifacts.ts';
import type { IndexedResult, Store } from '../store/port.ts';
import { configOf } from './open-workspace.ts';
import type { AttemptTools, Work } from './perform.ts';

/** What an attempt stands on. */
export interface FixPlace {
  readonly mirror: Mirror;
  readonly base: string;
  readonly checks: readonly VerificationCommand[];
}

export interface Reuse {
  keysOf(work: Work, place: FixPlace, agent: AgentConfig): Promise<ResultKeys | null>;
  /**
   * The patch of the same work, on this base, as `check` judges it; null: there is none, or it does not hold any more.
   */
  take(
    work: Work,
    keys: ResultKeys,
    place: FixPlace,
    tools: AttemptTools,
    check: (harvest: readonly HarvestEntry[]) => Promise<CheckedPatch | null>,
  ): Promise<{ readonly checked: CheckedPatch; readonly summary: string } | null>;
  /** The text of the patch of alike work; empty: there is none. The same for every attempt of a row. */
  startingPoint(work: Work, keys: ResultKeys): Promise<string>;
  keep(
    work: Work,
    keys: ResultKeys,
    result: Pick<IndexedResult, 'entries' | 'digest' | 'summary'>,
  ): Promise<void>;
}

/** Characters of a patch that is offered. */
const maxOffered = 20_000;
/** Bytes of one file of a patch that is taken over. */
const maxFileBytes = 50 * 1024 * 1024;

/** Verified patches of earlier rows in the same repository, taken over or offered. */
export function createReuse(deps: {
  readonly store: Pick<Store, 'resultIndex'>;
  readonly artifacts: ArtifactStore;
  /** Name of the model behind a channel. */
  readonly modelOf: (channel: string) => string;
}): Reuse {
  const { resultIndex } = deps.store;
  const filesOf = rememberFew((mirror: Mirror, base: string) => mirror.filesOf(base));
  return {
    async keysOf({ task, subtask }, { mirror, base, checks }, agent) {
      if (agent.kind !== 'model') return null;
      const files = filesOfRow(subtask.matrix, await filesOf(mirror, base));
      const { name, channel, instructions } = agent;
      return keysOf({
        repositoryId: task.repositoryId,
        row: subtask.matrix,
        contract: task.contract,
        files,
        checks,
        agent: { name, channel, model: deps.modelOf(channel), instructions },
        instructions: configOf(task).fix.instructions,
      });
    },

    async take({ task }, keys, place, tools, check) {
      const found = await resultIndex.get(keys.key);
      const text = found === null ? null : await deps.artifacts.get(found.digest);
      if (found === null || text === null) return null;
      const refused = (why: string) => {
        tools.log(JSON.stringify({ type: 'reuse', task: found.taskId, taken: false, why }));
        return null;
      };
      try {
        const checked = await check(await asHarvest(place, text));
        if (checked === null) return refused('it changes nothing here');
        tools.log(JSON.stringify({ type: 'reuse', task: found.taskId, taken: true }));
        // The row's own, of an attempt that ended before it could say so.
        const own = found.taskId === task.id;
        return {
          checked,
          summary: own ? found.summary : `${found.summary} (Taken from the result of an earlier run.)`,
        };
      } catch (thrown) {
        tools.signal.throwIfAborted();
        const code = thrown instanceof PatchfleetError ? thrown.code : '';
        // It does not fit or does not hold; what failed otherwise would fail the agent's own patch as well.
        if (!['git_failed', 'patch_refused', 'verification_failed'].includes(code)) throw thrown;
        return refused(thrown instanceof Error ? thrown.message.slice(0, 500) : '');
      }
    },

    async startingPoint({ subtask }, { key, family }) {
      // What came later is left out, so that a run that is taken up again is told the same.
      const alike = await resultIndex.family(family, subtask.startedAt ?? new Date());
      const others = alike.filter((other) => other.key !== key);
      const best = mostAlike(subtask.matrix.goal, others);
      const text = best === null ? null : await deps.artifacts.get(best.digest);
      if (text === null || text.length > maxOffered) return '';
      const patch = Buffer.from(text).toString('utf8');
      return patch.includes('\nGIT binary patch\n') ? '' : patch;
    },

    async keep({ task, subtask }, keys, result) {
      await resultIndex.put({ ...keys, ...result, goal: subtask.matrix.goal, taskId: task.id });
    },
  };
}

/** A patch as if an agent had left it in a workspace over the base. Fails with `git_failed` where it does not apply. */
async function asHarvest({ mirror, base }: FixPlace, text: Uint8Array): Promise<HarvestEntry[]> {
  const tree = await mirror.applyPatch(base, text);
  return (await mirror.compareTrees(base, tree)).map(({ path, file }) =>
    file === null
      ? { kind: 'deleted', path }
      : {
          kind: 'file',
          path,
          executable: file.mode === '100755',
          bytes: file.bytes,
          read: () => mirror.readBlob(file.blob, maxFileBytes),
        },
  );
}

/** Commits whose files are remembered: the rows of a task mostly stand on one. */
const fewCommits = 8;

function rememberFew<T>(read: (mirror: Mirror, commit: string) => Promise<T>): typeof read {
  const known = new Map<string, Promise<T>>();
  return (mirror, commit) => {
    const key = `${mirror.dir} ${commit}`;
    const there = known.get(key);
    if (there !== undefined) return there;
    const reading = read(mirror, commit);
    known.set(key, reading);
    reading.catch(() => known.delete(key));
    for (const oldest of known.keys()) if (known.size > fewCommits) known.delete(oldest);
    return reading;
  };
}
