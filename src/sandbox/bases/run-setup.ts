import { type FailureCode, PatchfleetError } from '../../domain/failure.ts';
import { unattended } from '../../domain/unattended.ts';
import type { RunResult, Sandbox } from '../port.ts';

/** Bytes kept of each stream. */
const maxBuffer = 64 * 1024;
/** Characters of the output's end that are told. */
const tailLength = 2000;

/** What ends a setup for good: the same again ends the same. */
export const lastingCodes: ReadonlySet<FailureCode> = new Set(['setup_failed', 'disk_exhausted']);

/**
 * Runs the commands of a setup one after the other. Fails with `setup_failed` at the first that does not succeed: its
 * words, how it ended and the end of its output; with `memory_exhausted` where that was for want of memory, which a later
 * attempt may have; or as the sandbox does. `noNetwork`: why it had none, a sentence; empty: it had one.
 */
export async function runSetup(
  sandbox: Sandbox,
  setup: { readonly commands: readonly (readonly string[])[]; readonly seconds: number },
  noNetwork: string,
  signal: AbortSignal,
): Promise<void> {
  for (const [at, argv] of setup.commands.entries()) {
    const result = await sandbox.run(argv, {
      ...{ env: unattended, wallMs: setup.seconds * 1000, maxBuffer, signal },
    });
    signal.throwIfAborted();
    if (result.isCanceled) throw new PatchfleetError('sandbox_died', 'the setup was stopped from outside');
    const ended = howItEnded(result, setup.seconds);
    if (ended === null) continue;
    if (result.outOfMemory) throw new PatchfleetError('memory_exhausted', `\`${argv.join(' ')}\` ${ended}`);
    const which = setup.commands.length === 1 ? '' : ` (command ${at + 1} of ${setup.commands.length})`;
    const tail = tailOf(result);
    const said = tail === '' ? '' : `\n${tail}`;
    throw new PatchfleetError(
      'setup_failed',
      `\`${argv.join(' ')}\`${which} ${ended}.${noNetwork === '' ? '' : ` ${noNetwork}`}${said}`,
    );
  }
}

/** Null: well. */
function howItEnded(result: RunResult, seconds: number): string | null {
  if (result.spawnError !== null) return `could not be started: ${result.spawnError}`;
  if (result.timedOut) return `did not end within ${seconds} s`;
  if (result.signal !== null) return `was ended by ${result.signal}`;
  return result.exitCode === 0 ? null : `ended with exit code ${result.exitCode}`;
}

function tailOf({ stdout, stderr }: RunResult): string {
  return [stdout, stderr]
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n')
    .slice(-tailLength);
}
