/**
 * `npm run bench -- NAME [--json] [--only CASE,...]`: measures on real parts and prints a table, with `--json` one JSON
 * object as the last line of standard output. Figures are ratios to what the same run could do at best; none of them
 * is a limit. Exits with 0 when all was measured, 1 when something failed, 2 for a name it does not know.
 */
import { parseArgs } from 'node:util';
import { stoppable } from '../support/stoppable.ts';
import { engine } from './engine.ts';
import { fanOut } from './fan-out.ts';
import { merge } from './merge.ts';
import { realCode } from './real-code.ts';
import type { Bench } from './result.ts';
import { sandbox } from './sandbox.ts';

const benches: Readonly<Record<string, Bench>> = {
  engine,
  fanout: fanOut,
  merge,
  realcode: realCode,
  sandbox,
};

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const asked = read(args);
  if (asked === null) {
    const names = Object.keys(benches).join(' | ');
    process.stderr.write(`usage: npm run bench -- ${names} [--json] [--only CASE,...]\n`);
    return 2;
  }
  const say = (line: string) => process.stderr.write(`bench: ${line}\n`);
  return await stoppable(say, async (signal) => {
    const { json, text } = await asked.bench({ say, signal, only: asked.only });
    process.stdout.write(`${asked.json ? JSON.stringify(json) : text}\n`);
    return 0;
  });
}

/** Null: not to be understood. */
function read(args: readonly string[]): { bench: Bench; json: boolean; only: string[] } | null {
  try {
    const options = {
      json: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [name = '', ...more] = positionals;
    const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
    if (bench === undefined || more.length > 0) return null;
    return { bench, json: values.json, only: values.only.split(',').filter((part) => part !== '') };
  } catch {
    return null;
  }
}
