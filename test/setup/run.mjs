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
import { namesTaken, takeName, waitForName, waitForNone } from './others.mjs';
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
/** Names by which commands that run at the same time know of each other. */
const setUpName = 'set-up';
const users = 'engine-of-';
const userName = `${users}${process.pid}`;
const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

async function main([what, ...args]) {
  const program = programs[what];
  if (!program)
    throw new Error(`say what to run: node test/setup/run.mjs ${Object.keys(programs).join(' | ')}`);
  process.chdir(root);
  const started = performance.now();
  const say = (line) => console.error(`set-up: ${line}`);
  const { run, stoppedBy, signal } = makeRunner();
  const scratch = makeScratch();
  const context = { run, say, scratch, signal };
  let engine = null;
  let code = 1;
  try {
    // Two that installed at once would take what the other one has just brought.
    const onWait = () => say('another command is being set up: waiting for that');
    const setUp = await waitForName(setUpName, { signal, onWait });
    try {
      await ensureDependencies(root, context);
      await ensureGit(context);
      if (what !== 'demo') await ensureRedisServer(context);
      if (what === 'chaos' || what === 'attacks') await ensureDockerd(context);
      if (what === 'attacks') await ensureGvisor(context, args);
      engine = await ensureEngine(context);
      await takeName(userName);
      const { ensureImage } = await import('../../sandbox/build/build-image.mjs');
      await ensureImage(engine.engine, { say, signal });
    } finally {
      await setUp();
    }
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
    try {
      const left = await removeScratch(scratch, { known: ['dockerd.log'], engine: engine?.engine });
      if (left.length > 0) console.error(`${what} left behind, now removed:\n  ${left.join('\n  ')}`);
    } finally {
      if (engine?.stop) await stopEngine(engine.stop, { say, signal });
    }
  }
  const by = stoppedBy();
  return by ? 128 + signalNumbers[by] : code;
}

/** Stops the engine that was started here, once no other command uses it; left to them where nobody wants to wait. */
async function stopEngine(stop, { say, signal }) {
  const onWait = () =>
    say('other commands use the Docker engine that was started here: waiting for their end');
  for (let alone = false; !alone; ) {
    let release;
    try {
      await waitForNone(users, { except: userName, signal, onWait });
      // Nobody begins to use it meanwhile.
      release = await waitForName(setUpName, { signal, onWait });
    } catch {
      say(
        'the Docker engine that was started here is left to the commands that use it: end dockerd after them',
      );
      return;
    }
    try {
      alone = namesTaken(users).every((name) => name === userName);
      if (alone) await stop();
    } finally {
      await release();
    }
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
