/**
 * `npm run attacks -- [--json] [--runtime runc|runsc|all] [--family NAME] [--case NAME]...`: every attack of this
 * folder, or those that are named, in real sandboxes. One line for each on standard error as it ends; with `--json` one
 * JSON object as the last line of standard output. Exits with 1 when anything escaped, or could not be tried under runc, and
 * with 2 for wrong usage. `runsc` runs on a Docker engine of its own, which needs root.
 *
 * `npm run attacks -- --weakened [TEXT]...`: whether they notice when the product is weakened; see weakened/try-all.ts.
 */
import { parseArgs } from 'node:util';
import { stoppable } from '../support/stoppable.ts';
import { families } from './families.ts';
import { whyNoGvisor, withGvisor } from './gvisor.ts';
import { type Case, figuresOf, line, notTried, runAll, summary } from './run-all.ts';
import { tryAll } from './weakened/try-all.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (asked === null) {
    const names = families.map(({ name }) => name).join(', ');
    process.stderr.write(
      `usage: npm run attacks -- [--json] [--runtime runc|runsc|all] [--family NAME] [--case NAME]...\n       npm run attacks -- --weakened [TEXT]...\nfamilies: ${names}\n`,
    );
    return 2;
  }
  const say = (text: string) => process.stderr.write(`${text}\n`);
  return await stoppable(say, async (signal) => {
    if (asked.weakened !== null) return (await tryAll(asked.weakened, say, signal)) === 0 ? 0 : 1;
    const cases: Case[] = [];
    const tell = (done: Case) => {
      cases.push(done);
      say(line(done));
    };
    const how = { asked, signal, tell };
    if (asked.runtimes.includes('runc')) await runAll({}, how);
    if (asked.runtimes.includes('runsc')) {
      const why = whyNoGvisor();
      if (why === null) await withGvisor(say, (stage) => runAll(stage, how));
      else cases.push(...notTried('runsc', asked, why));
    }
    const figures = figuresOf(cases);
    say(summary(cases));
    if (asked.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
    const untried = cases.some(({ runtime, verdict }) => runtime === 'runc' && verdict === 'inconclusive');
    return figures.escaped.length === 0 && !untried ? 0 : 1;
  });
}

/** Null: not to be understood. */
function read(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        runtime: { type: 'string', default: 'all' },
        family: { type: 'string' },
        case: { type: 'string', multiple: true },
        weakened: { type: 'boolean', default: false },
      },
    });
    const runtimes = values.runtime === 'all' ? ['runc', 'runsc'] : [values.runtime];
    if (!runtimes.every((name) => name === 'runc' || name === 'runsc')) return null;
    const family = values.family ?? null;
    if (family !== null && !families.some(({ name }) => name === family)) return null;
    const names = values.case ?? null;
    const known = new Set(families.flatMap(({ attacks }) => attacks.map(({ name }) => name)));
    if (names?.some((name) => !known.has(name)) === true) return null;
    if (positionals.length > 0 && !values.weakened) return null;
    return { json: values.json, runtimes, family, names, weakened: values.weakened ? positionals : null };
  } catch {
    return null;
  }
}
