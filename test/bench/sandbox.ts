import { type Bench, isAsked, renderTable } from './result.ts';
import { measureExtraction } from './sandbox/extraction.ts';
import { measureHeld } from './sandbox/held.ts';
import { measureSetup } from './sandbox/setup.ts';
import { openStage, type Stage } from './sandbox/stage.ts';
import { measureTools } from './sandbox/tools.ts';
import { measureWarm } from './sandbox/warm.ts';
import { measureWorkspaces } from './sandbox/workspace.ts';

/** In the order they run. */
const parts: Readonly<Record<string, (stage: Stage) => Promise<object>>> = {
  warm: measureWarm,
  tools: measureTools,
  workspace: measureWorkspaces,
  extraction: measureExtraction,
  setup: measureSetup,
  held: measureHeld,
};

/** What sandboxes cost, beside what one would do without them. */
export const sandbox: Bench = async ({ say, signal, only }) => {
  const stage = await openStage({ say, signal });
  const json: Record<string, unknown> = {};
  try {
    for (const [name, measure] of Object.entries(parts)) {
      if (!isAsked(name, { only })) continue;
      say(name);
      Object.assign(json, await measure(stage));
    }
  } finally {
    await stage.end();
  }
  return { json, text: render(json) };
};

/** A line for each figure; those of a group and of a list with their names before them. */
function render(json: object): string {
  const lines = (value: unknown, name: string): string[][] => {
    if (typeof value !== 'object' || value === null) return [[name, String(value)]];
    return Object.entries(value).flatMap(([key, inner]) =>
      lines(inner, name === '' ? key : `${name} ${key}`),
    );
  };
  return renderTable(lines(json, ''), 1);
}
