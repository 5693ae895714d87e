import type { PlanProposal } from '../../../src/agents/port.ts';
import type { Script } from './behaviour.ts';
import type { ChatRequest, ScriptedReply } from './chat-request.ts';
import { call, promptOf, readFence } from './prompt.ts';

/**
 * What a planner would answer, from the request alone. In this order:
 * 1. the first of `script.plans` whose `when` is in the prompt;
 * 2. where the instruction speaks of packages: rows for each package, its sources cut into `script.parts`, each
 *    part with a module of its own under `src/config/`;
 * 3. one row for the files that the text names; 4. one row for everything.
 */
export function plannerReply(request: ChatRequest, script: Script): ScriptedReply {
  const plan = planFor(promptOf(request), script);
  return { content: '', toolCalls: [call('submit_plan', plan, request.messages.length)] };
}

function planFor(prompt: string, script: Script): PlanProposal {
  const planned = script.plans.find((one) => prompt.includes(one.when));
  if (planned !== undefined) return { contract: planned.contract, rows: planned.rows };
  const instruction = readFence(prompt, 'instruction');
  const files = readFence(prompt, 'files')
    .split('\n')
    .map((line) => (line.startsWith('"') ? (JSON.parse(line) as string) : line));
  if (/\bpackages?\b/i.test(instruction)) {
    const rows = packagesIn(files).flatMap((directory) =>
      partRows(directory, files, script.parts, instruction),
    );
    if (rows.length > 0) return { contract: configContract, rows };
  }
  const text = `${instruction}\n${readFence(prompt, 'subject')}`;
  const named = files.filter((file) => text.includes(file));
  return { contract: '', rows: [singleRow(instruction, named)] };
}

/** Directories below the root that hold a manifest. */
function packagesIn(files: readonly string[]): string[] {
  return files.flatMap((file) => /^(.+)\/package\.json$/.exec(file)?.[1] ?? []);
}

const configContract =
  'Strings of part N of a package are constants of its module `src/config/part-N.js`: camel case, named after the file they come from, numbered from 1 in the order of its lines (`formatText1`). The module exports each by name.';

function partRows(
  directory: string,
  files: readonly string[],
  parts: number,
  instruction: string,
): PlanProposal['rows'] {
  const sources = files.filter(
    (file) => file.startsWith(`${directory}/src/`) && /\.[jt]s$/.test(file) && !/\/index\.[jt]s$/.test(file),
  );
  const count = Math.min(parts, sources.length);
  return Array.from({ length: count }, (_, index) => {
    const from = Math.floor((index * sources.length) / count);
    const inputs = sources.slice(from, Math.floor(((index + 1) * sources.length) / count));
    return {
      title: `${directory} part ${index + 1}/${count}`,
      goal: `In part ${index + 1} of ${directory}: ${instruction.trim()}`,
      writes: [...inputs, `${directory}/src/config/part-${index + 1}.js`],
      inputs,
      depends_on: [],
      verification: 'The tests pass and no hard-coded string is left in the inputs.',
    };
  });
}

function singleRow(instruction: string, named: readonly string[]): PlanProposal['rows'][number] {
  return {
    title: 'all of it',
    goal: instruction.trim() || 'Do what the background asks for.',
    writes: named.length > 0 ? named : ['**'],
    inputs: named,
    depends_on: [],
    verification: 'The tests pass.',
  };
}
