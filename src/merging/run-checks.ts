import { countTests } from '../domain/count-tests.ts';
import { failuresOf } from '../domain/failing-tests.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { unattended } from '../domain/unattended.ts';
import type { CommandReport, VerificationCommand, VerificationReport } from '../domain/verification.ts';
import type { RunResult, Sandbox, Sandboxes, SandboxKind } from '../sandbox/port.ts';

/** Bytes kept of each stream: enough for the names of thousands of failing tests. */
const maxBuffer = 2 * 1024 * 1024;
/** Characters of each stream's end that are kept for people. */
const tailLength = 4000;
/** What a sandbox may live longer than its commands: starting and answering, ms. */
const slackMs = 60_000;

export interface CheckRequest {
  readonly taskId: string;
  readonly attemptId: string;
  /** Over the snapshot to check. */
  readonly kind: SandboxKind;
  readonly commands: readonly VerificationCommand[];
  /** Wall-clock limit of each command, milliseconds. */
  readonly commandMs: number;
}

/**
 * Runs all the commands, one after the other, in one fresh sandbox over the snapshot: a later one may want what an
 * earlier one built. A failing command, a time-out or a program that is not there is in the report; a sandbox that
 * cannot be had, dies or runs out of memory throws, since that says nothing about the code. `peakMib`: the most memory
 * that any of them needed.
 */
export async function runChecks(
  sandboxes: Pick<Sandboxes, 'acquire'>,
  request: CheckRequest,
  signal: AbortSignal,
): Promise<Required<Pick<VerificationReport, 'commands' | 'peakMib'>>> {
  const { taskId, attemptId, kind, commands, commandMs } = request;
  const wallMs = commands.length * commandMs + slackMs;
  const sandbox = await sandboxes.acquire({ ...kind, taskId, attemptId, wallMs }, signal);
  try {
    const runs = [];
    for (const command of commands) runs.push(await runCommand(sandbox, command, commandMs, signal));
    const peaks = runs.flatMap(({ peakMemoryBytes }) => peakMemoryBytes ?? []);
    return {
      commands: runs.map(({ report }) => report),
      peakMib: peaks.length === 0 ? null : Math.ceil(Math.max(...peaks) / 1024 / 1024),
    };
  } finally {
    await sandbox.close();
  }
}

async function runCommand(
  sandbox: Sandbox,
  command: VerificationCommand,
  wallMs: number,
  signal: AbortSignal,
): Promise<{ readonly report: CommandReport } & Pick<RunResult, 'peakMemoryBytes'>> {
  const { argv, cwd, name } = command;
  // Whatever the patch brings runs beside the tool server and as its user: only the engine's word counts.
  const result = await sandbox.runByEngine(argv, { cwd, env: unattended, wallMs, maxBuffer, signal });
  signal.throwIfAborted();
  if (result.isCanceled) throw new PatchfleetError('sandbox_died', `${name} was stopped from outside`);
  const report = {
    name,
    exitCode: result.exitCode,
    timedOut: result.timedOut,
    durationMs: result.durationMs,
    failures: failuresOf({ name, ...result }),
    tests: countTests(`${result.stdout}\n${result.stderr}`),
    tail: tailOf(result),
  };
  return { report, peakMemoryBytes: result.peakMemoryBytes };
}

function tailOf({ stdout, stderr, spawnError }: RunResult): string {
  const ends = [stdout, stderr, spawnError ?? ''].map((text) => text.trimEnd().slice(-tailLength));
  // Postgres keeps no NUL in its JSON.
  return ends
    .filter((text) => text !== '')
    .join('\n')
    .replaceAll('\0', '')
    .toWellFormed();
}
