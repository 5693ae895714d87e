import type { CommandAgentConfig } from '../config/agent-config.ts';
import { PatchfleetError } from '../domain/failure.ts';
import type { RunResult } from '../sandbox/port.ts';
import { aliveByCpu } from './alive-by-cpu.ts';
import { cleanText, oneLine } from './clean-text.ts';
import { isRegular, readFilesUnderReview } from './collect-findings.ts';
import { commandLines } from './command-line.ts';
import { parseLines } from './parse-lines.ts';
import { parseSarif } from './parse-sarif.ts';
import { placeResults } from './place-results.ts';
import type { Agent, Assignment } from './port.ts';
import type { RawResult } from './raw-result.ts';
import { shortenOutput } from './shorten-output.ts';

/** Bytes of each output stream that are kept: the most a sandbox keeps. A longer output is refused, not cut. */
const outputBytes = 4 * 1024 * 1024;

/** A configured command, such as a linter, as a reviewer. It needs no model. */
export function createCommandAgent(config: CommandAgentConfig): Agent {
  return {
    name: config.name,
    async review(assignment) {
      const { changes, sandbox, signal } = assignment;
      const files = changes.filter((change) => change.status !== 'deleted' && isRegular(change));
      if (files.length === 0)
        return { findings: [], refused: 0, summary: 'No file left to check.', turns: 0 };
      // Before the command runs: it may rewrite the files.
      const texts = await readFilesUnderReview(files, sandbox, signal);
      const results: RawResult[] = [];
      let unplaced = 0;
      const started = performance.now();
      const paths = files.map((change) => change.path);
      for (const argv of commandLines(config.command, paths)) {
        const leftMs = assignment.row.limits.wallMs - (performance.now() - started);
        const output = await run(argv, Math.max(1, Math.floor(leftMs)), config, assignment);
        const parsed = parse(output, config, sandbox.workspace);
        results.push(...parsed.results);
        unplaced += parsed.unplaced;
      }
      const { findings, outside, refused } = placeResults(results, files, texts);
      const notes = [
        outside > 0 ? `${outside} outside the change` : '',
        unplaced > 0 ? `${unplaced} without a file and line` : '',
      ].filter((note) => note !== '');
      return {
        findings,
        refused,
        summary: notes.length === 0 ? '' : `Not shown: ${notes.join(', ')}.`,
        turns: 0,
      };
    },
  };
}

/**
 * One run of the command, checked: fails with `command_failed` when it could not be started or did not succeed,
 * `memory_exhausted` when the sandbox has too little memory for it, `wall_limit` when it took too long,
 * `output_invalid` when its output is too long to be read whole. A silent command is not idle as long as it uses the
 * CPU: many print only at their end.
 */
async function run(
  argv: readonly string[],
  wallMs: number,
  config: CommandAgentConfig,
  { row, sandbox, signal, onProgress, onLog }: Assignment,
): Promise<RunResult> {
  onLog(`$ ${argv.map((argument) => JSON.stringify(argument)).join(' ')}`);
  const running = sandbox.run(argv, { signal, wallMs, maxBuffer: outputBytes });
  const result = await aliveByCpu(running, sandbox, row.limits.idleMs, onProgress);
  signal.throwIfAborted();
  if (result.stdout !== '') onLog(result.stdout);
  if (result.stderr !== '') onLog(result.stderr);
  onLog(`[exit code ${result.exitCode ?? result.signal}, ${Math.round(result.durationMs)} ms]`);

  const program = JSON.stringify(argv[0]);
  if (result.spawnError !== null) {
    throw new PatchfleetError(
      'command_failed',
      `${program} could not be started; is it in the sandbox image? (${oneLine(result.spawnError, 300)})`,
    );
  }
  if (result.timedOut) throw new PatchfleetError('wall_limit', `${program} did not end in time`);
  if (result.exitCode === null || !config.success_codes.includes(result.exitCode)) {
    const ended =
      result.exitCode === null ? `was ended by ${result.signal}` : `ended with code ${result.exitCode}`;
    if (result.outOfMemory) throw new PatchfleetError('memory_exhausted', `${program} ${ended}`);
    const said = result.stderr.trim() || result.stdout.trim();
    throw new PatchfleetError(
      'command_failed',
      `${program} ${ended}: ${cleanText(said.slice(-1000)) || 'no output'}`,
    );
  }
  // The flag is over both streams; a long standard error does no harm.
  if (result.isMaxBuffer && Buffer.byteLength(result.stdout) >= outputBytes - 8) {
    throw new PatchfleetError(
      'output_invalid',
      `${program} printed more than ${outputBytes / 1024 / 1024} MiB, which is not read in part`,
    );
  }
  return result;
}

function parse(output: RunResult, config: CommandAgentConfig, workspace: string) {
  if (config.format === 'sarif') return parseSarif(output.stdout, workspace);
  const { results, unmatched } = parseLines(output.stdout, config.pattern, {
    workspace,
    defaultRule: config.name,
  });
  // It says that there are problems, and none can be read: that must not pass for a clean result.
  if (results.length === 0 && output.exitCode !== 0) {
    const shown = cleanText(shortenOutput(output.stdout.trim() || output.stderr.trim(), 500));
    throw new PatchfleetError(
      'output_invalid',
      `exit code ${output.exitCode}, and none of ${unmatched} lines matches \`pattern\`: ${shown}`,
    );
  }
  return { results, unplaced: 0 };
}
