import { isNameless } from './failing-tests.ts';
import type { CommandReport, Verdict, VerificationReport } from './verification.ts';

/** Per command (by position), what fails in a report and not in the base's; and what fails in both. */
export interface Comparison {
  readonly fresh: readonly (readonly string[])[];
  readonly known: readonly string[];
}

/**
 * `after` next to `base`; both of the same commands, `after` maybe of the first few only. A command that fails in
 * the base without naming a test counts as known only where it fails without naming one afterwards, too: a name that
 * comes up says more than the base did, and might be new.
 */
export function compareReports(base: VerificationReport, after: VerificationReport): Comparison {
  const known: string[] = [];
  const fresh = after.commands.map((command, at) => {
    const before = new Set(base.commands[at]?.failures ?? []);
    known.push(...command.failures.filter((failure) => before.has(failure)));
    return [
      ...command.failures.filter((failure) => !before.has(failure)),
      ...vanished(base.commands[at], command),
    ];
  });
  return { fresh, known: [...new Set(known)] };
}

/**
 * Tests that do not run can not fail: fewer of them than in the base is a failure of its own, unless the run's own
 * end says so already.
 */
function vanished(before: CommandReport | undefined, after: CommandReport): string[] {
  if (after.failures.some(isNameless)) return [];
  const [had, has] = [before?.tests ?? 0, after.tests ?? 0];
  return has < had ? [`command:${after.name} ran ${has} tests, ${had} in the base`] : [];
}

/**
 * The verdict over what failed newly and what did when it was run again (null: nothing had to be). A test is
 * believed to fail when it did both times. A run that ended without naming what failed (a crash, a time-out)
 * may hide any test: together with a red run it is believed whole.
 */
export function conclude(first: Comparison, again: Comparison | null): Verdict {
  const newFailures: string[] = [];
  const flaky: string[] = [];
  for (const [at, once] of first.fresh.entries()) {
    const twice = again?.fresh[at] ?? [];
    const all = [...new Set([...once, ...twice])];
    const whole = once.length > 0 && twice.length > 0 && all.some(isNameless);
    for (const failure of all) {
      const believed = whole || (once.includes(failure) && twice.includes(failure));
      (believed ? newFailures : flaky).push(failure);
    }
  }
  return {
    passed: newFailures.length === 0,
    newFailures: [...new Set(newFailures)],
    knownFailures: first.known,
    flaky: [...new Set(flaky)],
  };
}
