import { failuresInCargo, failuresInGo } from './test-output-compiled.ts';
import { failuresInJest, failuresInMocha } from './test-output-javascript.ts';
import { failuresInNodeSpec, failuresInTap } from './test-output-node.ts';
import { failuresInPytest, failuresInUnittest } from './test-output-python.ts';

/** How a verification command ended, shaped after a sandbox's run result. */
export interface EndedCommand {
  readonly name: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly spawnError: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Part of the output is missing. */
  readonly isMaxBuffer: boolean;
}

/** Failures kept of one command, and characters of a name: a report stays a row of a few hundred KiB. */
const mostFailures = 2000;
const longestName = 300;
/** Characters of a line that are looked at: no expression below walks a megabyte. */
const longestLine = 1000;

const parsers = [
  failuresInNodeSpec,
  failuresInTap,
  failuresInJest,
  failuresInMocha,
  failuresInPytest,
  failuresInUnittest,
  failuresInGo,
  failuresInCargo,
];

/**
 * What failed in a command, by names that are the same from run to run and from place to place: no durations, line
 * numbers, addresses or temporary paths. Empty: it passed. What the output does not name is
 * `command:<name>`, and so is how it ended when that may have hidden tests: `... timed out`, `... was killed by
 * SIGSEGV`, `... could not be started`, `... wrote too much to be read whole`.
 */
export function failuresOf(command: EndedCommand): string[] {
  if (command.exitCode === 0 && !command.timedOut && command.spawnError === null) return [];
  const self = `command:${command.name}`;
  if (command.spawnError !== null) return [`${self} could not be started`];
  const tests = failingTests(`${command.stdout}\n${command.stderr}`);
  const hidden: string[] = [];
  if (command.timedOut) hidden.push(`${self} timed out`);
  else if (command.exitCode === null) hidden.push(`${self} was killed by ${command.signal ?? 'a signal'}`);
  else if (command.isMaxBuffer) hidden.push(`${self} wrote too much to be read whole`);
  if (tests.length > mostFailures) hidden.push(`${self} has more than ${mostFailures} failures`);
  if (tests.length === 0 && hidden.length === 0) return [self];
  return [...hidden, ...tests.slice(0, mostFailures)];
}

/** Names of the failing tests in the output of any known runner, sorted and once each; `test:<file>:<name>`. */
export function failingTests(output: string): string[] {
  const lines = plainLines(output);
  const names = parsers.flatMap((parse) => parse(lines)).map((name) => `test:${steady(name)}`);
  return [...new Set(names)].sort();
}

/** Whether a failure says no more than that its command failed: it may stand for any test. */
export function isNameless(failure: string): boolean {
  return failure.startsWith('command:');
}

function plainLines(output: string): string[] {
  return output.split(/\r?\n/).map((line) =>
    line
      .slice(0, longestLine)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters.
      .replace(/\u001b\[[0-9;]*[A-Za-z]/g, '')
      .trimEnd(),
  );
}

/** Takes out what changes from run to run and from place to place. */
function steady(name: string): string {
  return (
    name
      .replaceAll('file://', '')
      .replaceAll('/workspace/', '')
      .replace(/\/(?:tmp|scratch)(?:\/[^\s:/]+)*/g, '<temporary>')
      .replace(/\b0x[0-9a-f]{4,}\b/gi, '<address>')
      .replace(/ \(\d+(?:\.\d+)? ?m?s\)/g, '')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: Postgres takes no NUL, and people read the rest.
      .replace(/[\u0000-\u001f\u007f]+/g, ' ')
      .slice(0, longestName)
      .toWellFormed()
      .trim()
  );
}
