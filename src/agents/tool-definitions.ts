import { z } from 'zod';
import { severities } from '../domain/finding.ts';
import { createToolSet, type ValidCall } from './tool-set.ts';
import {
  pathSchema,
  readingDescriptions,
  readingSchemas,
  runCommandDescription,
  runCommandSchema,
} from './workspace-tools.ts';

/** The tools of a model agent that reviews. */

/** Wall-clock limit of a reviewer's command, seconds. */
export const reviewCommandSeconds = 60;

const line = z.int().min(1);

const schemas = {
  ...readingSchemas,
  run_command: runCommandSchema(reviewCommandSeconds),
  report_finding: z.object({
    path: pathSchema.describe('One of your inputs.'),
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

export type ReviewCall = ValidCall<typeof schemas>;
export type ToolArguments<Name extends ReviewCall['name']> = Extract<ReviewCall, { name: Name }>['arguments'];

export const reviewTools = createToolSet(schemas, {
  ...readingDescriptions,
  run_command: runCommandDescription,
  report_finding: 'Reports one problem. Checked at once: the answer says whether it was recorded.',
  finish: 'Ends the review. Call it once, when everything is reported.',
});
