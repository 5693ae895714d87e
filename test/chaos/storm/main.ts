/**
 * `npm run chaos -- [--json] [--seed N] [--short] [--logs DIR]`: a fleet of real processes on real servers, killed
 * and cut off at random moments while it works; see README.md. Tells of progress on standard error and prints the
 * figures, with `--json` one JSON object as the last line of standard output. Exits with 0 when nothing was lost,
 * published twice, stuck, left behind or paid twice beyond what was in flight; 1 otherwise, 2 for wrong usage.
 */
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stoppable } from '../../support/stoppable.ts';
import { fullForm, shortForm } from './form.ts';
import { passed, renderReport } from './result.ts';
import { runStorm } from './storm.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (asked === null) {
    process.stderr.write('usage: npm run chaos -- [--json] [--seed NUMBER] [--short] [--logs DIRECTORY]\n');
    return 2;
  }
  const say = (line: string) => process.stderr.write(`chaos: ${line}\n`);
  return await stoppable(say, async (signal) => {
    const { seed, logsDir } = asked;
    const report = await runStorm(asked.form, { seed, say, signal, logsDir });
    process.stderr.write(`${renderReport(report)}\n`);
    if (asked.json) process.stdout.write(`${JSON.stringify(report.result)}\n`);
    return passed(report) ? 0 : 1;
  });
}

/** Null: not to be understood. */
function read(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        seed: { type: 'string' },
        logs: { type: 'string' },
      },
    });
    const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
    if (!Number.isSafeInteger(seed) || seed < 0) return null;
    const logsDir = values.logs === undefined ? null : resolve(values.logs);
    return { json: values.json, form: values.short ? shortForm : fullForm, seed, logsDir };
  } catch {
    return null;
  }
}
