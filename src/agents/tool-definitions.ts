import { z } from 'zod';
import { severities } from '../domain/finding.ts';
import type { ToolDefinition } from '../inference/port.ts';

/** The tools of a model agent. Models like to send null for what they leave out: it is taken as left out. */

const path = z.string().describe('Path relative to the repository root, e.g. `src/index.ts`.');
const line = z.int().min(1);

export const toolSchemas = {
  list_files: z.object({
    path: z.string().nullish().describe('Directory relative to the repository root; empty: the root.'),
  }),
  read_file: z.object({
    path,
    start_line: line.nullish().describe('First line, counted from 1. Default 1.'),
    end_line: line.nullish().describe('Last line, inclusive. Default: 400 lines from the first.'),
  }),
  search: z.object({
    pattern: z.string().min(1).max(1000).describe('Regular expression (Rust syntax), matched line by line.'),
    path: z.string().nullish().describe('File or directory to search; empty: everything.'),
  }),
  run_command: z.object({
    argv: z
      .array(z.string().max(10_000))
      .min(1)
      .max(200)
      .describe('Program and arguments; there is no shell. Ends after 60 seconds. No network.'),
    cwd: z.string().nullish().describe('Directory relative to the repository root; empty: the root.'),
  }),
  report_finding: z.object({
    path: path.describe('One of your inputs.'),
    side: z
      .enum(['RIGHT', 'LEFT'])
      .nullish()
      .describe('RIGHT (default): a line of the file after the change. LEFT: a deleted line.'),
    start_line: line.describe('First line: the new number for RIGHT, the old number for LEFT.'),
    end_line: line.nullish().describe('Last line, inclusive. Default: start_line.'),
    quote: z.string().describe('The exact text of those lines, joined by newlines, without line numbers.'),
    severity: z
      .enum(severities)
      .describe('error: must be fixed before merging. warning: should be. note: worth knowing.'),
    confidence: z.number().min(0).max(1).nullish().describe('How sure you are, 0 to 1. Default 0.8.'),
    rule: z
      .string()
      .min(1)
      .max(100)
      .describe('Stable short name of the kind of problem, e.g. `sql-injection`.'),
    title: z.string().min(1).max(300).describe('The problem in one line.'),
    body: z
      .string()
      .max(20_000)
      .nullish()
      .describe('Markdown: why it is a problem, what happens, how to fix it.'),
    replacement: z
      .string()
      .max(20_000)
      .nullish()
      .describe('Complete text that replaces the quoted lines; leave out if unsure.'),
  }),
  finish: z.object({
    summary: z.string().max(4000).describe('One or two sentences: what you looked at, what you found.'),
  }),
} as const;

export type ToolName = keyof typeof toolSchemas;
export type ToolArguments<Name extends ToolName> = z.infer<(typeof toolSchemas)[Name]>;

const descriptions: Record<ToolName, string> = {
  list_files: 'Lists a directory.',
  read_file: 'Reads lines of a text file, with their numbers.',
  search: 'Searches files for a regular expression.',
  run_command: 'Runs a program in the sandbox and gives its exit code and output.',
  report_finding: 'Reports one problem. Checked at once: the answer says whether it was recorded.',
  finish: 'Ends the review. Call it once, when everything is reported.',
};

export const toolDefinitions: readonly ToolDefinition[] = Object.entries(toolSchemas).map(
  ([name, schema]) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
    return { name, description: descriptions[name as ToolName], parameters };
  },
);

export type ParsedCall =
  | {
      readonly [Name in ToolName]: { readonly name: Name; readonly arguments: ToolArguments<Name> };
    }[ToolName]
  /** What is wrong with the call, for the model. */
  | { readonly name: null; readonly fault: string };

/** A tool call as it may be run, or what is wrong with it. */
export function parseToolCall(call: { name: string; arguments: string }): ParsedCall {
  if (!Object.hasOwn(toolSchemas, call.name)) {
    const known = Object.keys(toolSchemas).join(', ');
    return {
      name: null,
      fault: `there is no tool ${JSON.stringify(call.name.slice(0, 100))}; there are: ${known}`,
    };
  }
  const name = call.name as ToolName;
  let value: unknown;
  try {
    value = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments);
  } catch {
    return {
      name: null,
      fault: `the arguments of ${name} are not valid JSON: ${call.arguments.slice(0, 200)}`,
    };
  }
  const parsed = toolSchemas[name].safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || 'arguments'}: ${issue.message}`,
    );
    return { name: null, fault: `the arguments of ${name} are not valid: ${problems.join('; ')}` };
  }
  return { name, arguments: parsed.data } as ParsedCall;
}
