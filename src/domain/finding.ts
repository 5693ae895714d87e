import { createHash } from 'node:crypto';
import { z } from 'zod';

/** A review result anchored to file and line. */

export const severities = ['error', 'warning', 'note'] as const;
export type Severity = (typeof severities)[number];

export const findingSchema = z.object({
  path: z.string().min(1),
  /** LEFT: a deleted line, numbered in the old file; RIGHT: a line of the new file. */
  side: z.enum(['LEFT', 'RIGHT']),
  /** 1-based, inclusive. */
  startLine: z.int().min(1),
  endLine: z.int().min(1),
  severity: z.enum(severities),
  /** 0 to 1, as the agent states it; 1 for deterministic tools. */
  confidence: z.number().min(0).max(1),
  /** A stable name for the kind of problem, e.g. `no-eval`, `sql-injection`. */
  rule: z.string().min(1).max(100),
  /** One line. */
  title: z.string().min(1).max(300),
  /** Markdown. */
  body: z.string().max(20_000),
  /** The exact text of the anchored lines, joined by `\n`. A finding whose quote does not exist is refused. */
  quote: z.string(),
  /** Text that replaces the anchored lines, without a final newline; null where none is proposed. */
  replacement: z.string().max(20_000).nullable(),
});
export type Finding = z.infer<typeof findingSchema>;

/**
 * What makes two findings the same over shards and runs: path, rule and the quoted text without its
 * white space. Line numbers are left out so that a finding keeps its identity when code above it moves.
 * 64 hex digits.
 */
export function fingerprint(finding: Pick<Finding, 'path' | 'side' | 'rule' | 'quote'>): string {
  const quote = finding.quote.replace(/\s+/g, '');
  return createHash('sha256')
    .update(JSON.stringify([finding.path, finding.side, finding.rule.toLowerCase(), quote]))
    .digest('hex');
}
