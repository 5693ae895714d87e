import { createHash } from 'node:crypto';
import { compareReports, conclude } from '../domain/compare-reports.ts';
import { type FailureCode, PatchfleetError } from '../domain/failure.ts';
import type { VerificationCommand, VerificationReport } from '../domain/verification.ts';
import type { KindRequest, Sandboxes, SandboxKinds } from '../sandbox/port.ts';
import type { Verifications } from '../store/port/verifications.ts';
import type { VerificationContext, Verifier } from './port.ts';
import { runChecks } from './run-checks.ts';

/** Several ask for the same report at once, and it is made once. See sandbox/shared-work.ts. */
export type SharedReports = (
  key: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<VerificationReport>,
) => Promise<VerificationReport>;

const ofTheSandbox: readonly FailureCode[] = ['sandbox_died', 'memory_exhausted'];

export interface VerifierDependencies {
  readonly verifications: Verifications;
  readonly kinds: SandboxKinds;
  readonly sandboxes: Pick<Sandboxes, 'acquire'>;
  /** The tree of a commit of that mirror. */
  readonly treeOf: (mirrorDir: string, commit: string) => Promise<string>;
  readonly once: SharedReports;
  /** How often a caller that waits for a report is told that work goes on, ms. */
  readonly progressMs?: number;
}

/**
 * Verifies trees in fresh sandboxes. Reports are kept by tree, commands, limit, image and prepared dependencies, the
 * second run of a red tree under a key of its own, so that the same question has the same answer on every worker.
 */
export function createVerifier(deps: VerifierDependencies): Verifier {
  /** `run` 1 is the first look at a tree, 2 the one that tells flakes. */
  async function ask(run: 1 | 2, commit: string, context: VerificationContext): Promise<VerificationReport> {
    const { repository, commands, commandMs, taskId, attemptId } = context;
    const tree = await deps.treeOf(repository.mirrorDir, commit);
    if (commands.length === 0) return { tree, commands: [] };
    const wanted: KindRequest = { ...context.kind, repository, commit, taskId, use: 'check' };
    // Another image, be it of the same name, may answer otherwise, and so may other dependencies.
    const environment = await deps.kinds.environmentOf(wanted, context.signal);
    const key = keyOf(tree, commands, commandMs, environment, run);
    const kept = await deps.verifications.get(key);
    if (kept !== null) return kept;
    let mine = false;
    const make = async (signal: AbortSignal): Promise<VerificationReport> => {
      mine = true;
      // Whoever made it meanwhile was not to be seen a moment ago.
      const made = await deps.verifications.get(key);
      if (made !== null) return made;
      context.onRun?.();
      const kind = await deps.kinds.of(wanted, signal);
      const request = { taskId, attemptId, kind, commands, commandMs };
      const report = { tree, ...(await runChecks(deps.sandboxes, request, signal)) };
      await deps.verifications.put(key, report, repository.id);
      return (await deps.verifications.get(key)) ?? report;
    };
    try {
      return await deps.once(key, context.signal, make);
    } catch (thrown) {
      // The sandbox was another attempt's, and went with it, or had less memory than ours will.
      const died = thrown instanceof PatchfleetError && ofTheSandbox.includes(thrown.code);
      if (mine || !died || context.signal.aborted) throw thrown;
      return await deps.once(key, context.signal, make);
    }
  }

  const alive = async <T>(context: VerificationContext, work: () => Promise<T>): Promise<T> => {
    context.signal.throwIfAborted();
    // A long test suite may be silent: verification has its wall limit alone.
    const timer = setInterval(context.onProgress, deps.progressMs ?? 5000);
    try {
      return await work();
    } finally {
      clearInterval(timer);
      context.onProgress();
    }
  };

  return {
    report: (commit, context) => alive(context, () => ask(1, commit, context)),
    judge: (base, commit, context) =>
      alive(context, async () => {
        // The base first: what it runs and how it fails is what everything else is held against.
        const before = await ask(1, base, context);
        const after = await ask(1, commit, context);
        const first = compareReports(before, after);
        const last = first.fresh.findLastIndex((failures) => failures.length > 0);
        if (last === -1) return conclude(first, null);
        // With the commands before it, which it may build upon.
        const commands = context.commands.slice(0, last + 1);
        const again = await ask(2, commit, { ...context, commands });
        return conclude(first, compareReports(before, again));
      }),
  };
}

function keyOf(
  tree: string,
  commands: readonly VerificationCommand[],
  commandMs: number,
  environment: string,
  run: number,
): string {
  const what = commands.map(({ argv, cwd, name }) => ({ name, argv, cwd }));
  const digest = createHash('sha256')
    .update(JSON.stringify({ what, commandMs, image: environment, run }))
    .digest('hex');
  return `${tree}:${digest}`;
}
