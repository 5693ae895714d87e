import { z } from 'zod';
import type { RequestedRow } from '../domain/fork.ts';
import type { Sandbox } from '../sandbox/port.ts';
import { createToolSet, type ValidCall } from './tool-set.ts';
import {
  answerOf,
  pathSchema,
  readingDescriptions,
  readingSchemas,
  runCommandDescription,
  runCommandSchema,
  runWorkspaceTool,
  type WorkspaceContext,
} from './workspace-tools.ts';
import type { WriteScope } from './write-scope.ts';

/** The tools of an agent that changes files. */

/** Wall-clock limit of a fixer's command, seconds: it may run the checks of the repository. */
export const fixCommandSeconds = 300;

/** Characters of one file or replacement; larger ones are made by a program. */
const maxText = 400_000;

const schemas = {
  ...readingSchemas,
  edit_file: z.object({
    path: pathSchema,
    old_text: z
      .string()
      .min(1)
      .max(maxText)
      .describe('The text to replace, as read_file shows it but without the line numbers; it occurs once.'),
    new_text: z.string().max(maxText).describe('What stands in its place; empty: the text is removed.'),
  }),
  write_file: z.object({
    path: pathSchema,
    content: z.string().max(maxText).describe('The whole file.'),
    executable: z.boolean().nullish().describe('Left out: an existing file keeps its mode.'),
  }),
  delete_file: z.object({ path: pathSchema }),
  run_command: runCommandSchema(fixCommandSeconds),
  request_subtask: z.object({
    title: z.string().trim().min(1).max(100).describe('Short and unique, e.g. `http: rename the header`.'),
    goal: z
      .string()
      .trim()
      .min(1)
      .max(10_000)
      .describe('What is to be true when it is done, complete in itself.'),
    writes: z
      .array(z.string().min(1).max(1000))
      .min(1)
      .max(200)
      .describe('Paths or globs it alone may write. None of your own scope: those you write yourself.'),
    inputs: z.array(z.string().min(1).max(1000)).max(200).nullish().describe('Existing files to read first.'),
    verification: z.string().trim().min(1).max(4000).describe('How one sees that it is done.'),
  }),
  finish: z.object({
    summary: z
      .string()
      .trim()
      .min(1)
      .max(4000)
      .describe('What you changed and why, in a few sentences for the pull request.'),
    no_change_reason: z
      .string()
      .max(2000)
      .nullish()
      .describe('Why nothing was to be changed; needed where you have written nothing.'),
  }),
} as const;

export type FixCall = ValidCall<typeof schemas>;

export const fixTools = createToolSet(schemas, {
  ...readingDescriptions,
  edit_file: 'Replaces one text of a file. Where it is not found once, the answer shows the nearest text.',
  write_file: 'Writes a whole file; makes its directories. For new files, or where little stays.',
  delete_file: 'Deletes a file.',
  run_command: runCommandDescription,
  request_subtask:
    'Asks for a further row of the plan: work that the goal needs outside of your scope. It is decided once you have finished.',
  finish: 'Ends the work. Call it once, when the goal is met and the checks pass.',
});

export interface FixContext extends Omit<WorkspaceContext, 'commandSeconds'> {
  readonly scope: WriteScope;
  /** Files that the writing tools changed so far. */
  readonly written: Set<string>;
  /** Rows it asked for so far. */
  readonly requested: RequestedRow[];
}

/** Rows one agent may ask for. */
const maxRequested = 5;

/** Does what a valid call asks and gives the text for the model; see {@link answerOf}. */
export function runFixTool(call: Exclude<FixCall, { name: 'finish' }>, context: FixContext): Promise<string> {
  return answerOf(() => dispatch(call, context), context.signal);
}

async function dispatch(call: Exclude<FixCall, { name: 'finish' }>, context: FixContext): Promise<string> {
  const { sandbox, signal, scope, written } = context;
  switch (call.name) {
    case 'edit_file':
    case 'write_file':
    case 'delete_file': {
      const path = scope.require(call.arguments.path);
      const answer = await write({ ...call, path } as WriteCall, sandbox, signal);
      if (answer.done) written.add(path);
      return answer.text;
    }
    case 'request_subtask':
      return request(call.arguments, context.requested);
    default:
      return runWorkspaceTool(call, { ...context, commandSeconds: fixCommandSeconds });
  }
}

/** Whether a call may leave other files than it found. */
export function changesFiles(call: FixCall): boolean {
  return ['edit_file', 'write_file', 'delete_file', 'run_command'].includes(call.name);
}

/** What {@link runFixTool} noted of a call that answered so; nothing is done again. */
export function replayFixTool(
  call: Exclude<FixCall, { name: 'finish' }>,
  text: string,
  { scope, written, requested }: Pick<FixContext, 'scope' | 'written' | 'requested'>,
): null {
  if (call.name === 'request_subtask') request(call.arguments, requested);
  const wrote = doneBy[call.name];
  if (wrote?.test(text) && 'path' in call.arguments && typeof call.arguments.path === 'string')
    written.add(scope.require(call.arguments.path));
  return null;
}

/** How the answers begin of calls that changed a file. */
const doneBy: Readonly<Record<string, RegExp>> = {
  edit_file: /^edited at line /,
  write_file: /^written: /,
  delete_file: /^deleted/,
};

function request(
  { inputs, ...asked }: Extract<FixCall, { name: 'request_subtask' }>['arguments'],
  requested: RequestedRow[],
): string {
  if (requested.length >= maxRequested)
    return `error: not noted: you have asked for ${maxRequested} rows, which is the most`;
  if (requested.some(({ title }) => title.toLowerCase() === asked.title.toLowerCase()))
    return 'error: not noted: you have asked for a row of this title';
  requested.push({ ...asked, inputs: inputs ?? [] });
  return 'noted: whether it becomes a row is decided once you have finished. Do not wait for it, and leave what you write in a state that passes the checks without it';
}

type WriteCall = Extract<FixCall, { name: 'edit_file' | 'write_file' | 'delete_file' }> & { path: string };

async function write(
  call: WriteCall,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<{ done: boolean; text: string }> {
  const { path } = call;
  switch (call.name) {
    case 'edit_file': {
      const { old_text, new_text } = call.arguments;
      if (old_text === new_text) return { done: false, text: 'error: old_text and new_text are the same' };
      const { edited, line, explanation } = await sandbox.edit(path, old_text, new_text, { signal });
      if (!edited) return { done: false, text: `not edited: ${explanation}` };
      return { done: true, text: `edited at line ${line}${explanation === '' ? '' : ` (${explanation})`}` };
    }
    case 'write_file': {
      const { content, executable = null } = call.arguments;
      await sandbox.write(path, content, { signal, executable });
      return { done: true, text: `written: ${Buffer.byteLength(content)} bytes` };
    }
    case 'delete_file':
      await sandbox.remove(path, { signal });
      return { done: true, text: 'deleted' };
  }
}
