/**
 * `npm run demo`, `npm test`, `npm run bench`, `npm run chaos`, `npm run attacks`: makes sure of all that is needed, runs the command
 * with Node 24, and leaves nothing running. Plain JavaScript with Node's builtins alone, since it runs before anything
 * is installed, on Node 20 and later. Set-up speaks on standard error: standard output is the command's own.
 */
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies } from './dependencies.mjs';
import { ensureEngine } from './docker-engine.mjs';
import { makeScratch, removeScratch } from './leftovers.mjs';
import { makeRunner } from './processes.mjs';
import { ensureDockerd, ensureGit, ensureGvisor, ensureRedisServer } from './tools.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const programs = {
  demo: ['test/demo/main.ts'],
  bench: ['test/bench/main.ts'],
  chaos: ['test/chaos/storm/main.ts'],
  attacks: ['test/attacks/main.ts'],
  test: ['test/setup/checks.mjs', '--tests'],
};
const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

async function main([what, ...args]) {
  const program = programs[what];
  if (!program)
    throw new Error(`say what to run: node test/setup/run.mjs ${Object.keys(programs).join(' | ')}`);
  process.chdir(root);
  const started = performance.now();
  const say = (line) => console.error(`set-up: ${line}`);
  const { run, stoppedBy } = makeRunner();
  const scratch = makeScratch();
  let engine = null;
  let code = 1;
  try {
    await ensureDependencies(root, { run, say });
    await ensureGit({ run, say });
    if (what !== 'demo') await ensureRedisServer({ run, say });
    if (what === 'chaos' || what === 'attacks') await ensureDockerd({ run, say });
    if (what === 'attacks') await ensureGvisor({ run, say }, args);
    engine = await ensureEngine({ run, say, scratch });
    const { ensureImage } = await import('../../sandbox/build/build-image.mjs');
    await ensureImage(engine.engine, { say });
    const setupMs = Math.round(performance.now() - started);
    const bin = join(root, 'node_modules/.bin');
    const env = {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      TMPDIR: scratch,
      PATCHFLEET_SETUP_MS: String(setupMs),
    };
    code = await run(join(root, 'node_modules/node/bin/node'), [...program, ...args], { env });
  } catch (error) {
    if (!stoppedBy()) console.error(`${what} could not run: ${error.message}`);
  } finally {
    const left = await removeScratch(scratch, { known: ['dockerd.log'], engine: engine?.engine });
    if (left.length > 0) console.error(`${what} left behind, now removed:\n  ${left.join('\n  ')}`);
    await engine?.stop();
  }
  const signal = stoppedBy();
  return signal ? 128 + signalNumbers[signal] : code;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
