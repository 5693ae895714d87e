/**
 * `npm run demo`: a pull request is reviewed in parallel, a change of every package is made in parallel and verified,
 * and three issues are fixed in one batch, end to end. Real are Patchfleet, its database, git, Docker and the
 * sandboxes; GitHub is a double, and the model too unless OPENAI_BASE_URL, OPENAI_API_KEY and MODEL are set.
 * With `--json` the last line is one JSON object. Exits with 0 only when everything held.
 */
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { judge } from './judge.ts';
import { createLiveLines } from './live-lines.ts';
import { renderDemo } from './report.ts';
import { type DemoFacts, runDemo } from './run-demo.ts';
import type { RealModel } from './stage.ts';

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } });
const say = (text: string) => process.stdout.write(`${text}\n`);

const stop = new AbortController();
let stoppedBy: NodeJS.Signals | null = null;
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(name, () => {
    stoppedBy ??= name;
    stop.abort(new Error(`stopped by ${name}`));
  });
}

const model = realModel();
say(
  model === null
    ? 'Model: a scripted double that knows the planted faults (set OPENAI_BASE_URL, OPENAI_API_KEY and MODEL for a real one)'
    : `Model: ${model.MODEL} at ${model.OPENAI_BASE_URL} (real; what it finds is its own)`,
);
let facts: DemoFacts | null = null;
const broken: string[] = [];
try {
  facts = await runDemo({
    model,
    newLines: () => createLiveLines(process.stdout),
    say,
    signal: stop.signal,
  });
  say(`\n${renderDemo(facts)}\n`);
  broken.push(...judge(facts));
} catch (error) {
  if (stoppedBy !== null) broken.push(`stopped by ${stoppedBy}`);
  else broken.push(error instanceof Error ? error.message : String(error));
}
for (const sentence of broken) process.stderr.write(`demo: ${sentence}\n`);
if (broken.length === 0) say('Everything held.');
if (values.json) say(JSON.stringify(summary(facts, broken.length === 0)));
process.exitCode = stoppedBy === null ? Number(broken.length > 0) : 128 + constants.signals[stoppedBy];

function realModel(): RealModel | null {
  const { OPENAI_BASE_URL, OPENAI_API_KEY, MODEL } = process.env;
  return OPENAI_BASE_URL && OPENAI_API_KEY && MODEL ? { OPENAI_BASE_URL, OPENAI_API_KEY, MODEL } : null;
}

/** Field by field: readers of the line rely on these and no others. */
function summary(seen: DemoFacts | null, ok: boolean) {
  const { shardsWithFaults: _, ...review } = seen?.review.figures ?? { shardsWithFaults: 0 };
  return {
    ok,
    review: seen === null ? null : review,
    fix: seen?.fix.figures ?? null,
    batch: seen?.batch.figures ?? null,
    sandboxesLeft: seen?.sandboxesLeft ?? null,
    setupMs: Number(process.env['PATCHFLEET_SETUP_MS'] ?? 0),
  };
}
