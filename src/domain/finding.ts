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

/** How many further places of a merged finding its body names. */
const placesNamed = 20;

/**
 * The findings of all rows as one list. Ordered by row (the index in `perRow`), then by position in the
 * row; never by arrival. One finding stays of those that are the same: same fingerprint, or same path, side
 * and rule on overlapping lines. It is the one of the highest severity, then confidence, then the first; it
 * takes the highest of both, keeps a replacement that the others on its lines do not contradict, and its
 * body names the other lines where the same text has the same problem. Merging what was merged changes nothing.
 */
export function mergeFindings(perRow: readonly (readonly Finding[])[]): Finding[] {
  return groupSame(perRow.flat()).map(mergeGroup);
}

/** Groups in the order of their first members. Being the same is transitive here. */
function groupSame(findings: readonly Finding[]): Finding[][] {
  const groupOf = new Map<Finding, Finding[]>();
  const join = (a: Finding, b: Finding) => {
    const [into, from] = [groupOf.get(a), groupOf.get(b)];
    if (into === undefined || from === undefined || into === from) return;
    into.push(...from);
    for (const finding of from) groupOf.set(finding, into);
  };
  // Copies, so that one object listed twice is two findings.
  const all = findings.map((finding) => ({ ...finding }));
  for (const finding of all) groupOf.set(finding, [finding]);
  for (const same of Map.groupBy(all, fingerprint).values()) {
    for (const [index, finding] of same.entries()) join(same[index - 1] ?? finding, finding);
  }
  const ruleOf = (finding: Finding) =>
    JSON.stringify([finding.path, finding.side, finding.rule.toLowerCase()]);
  for (const sameRule of Map.groupBy(all, ruleOf).values()) {
    let reaching: Finding | undefined;
    for (const finding of sameRule.toSorted((a, b) => a.startLine - b.startLine)) {
      if (reaching !== undefined && finding.startLine <= reaching.endLine) join(reaching, finding);
      if (reaching === undefined || finding.endLine > reaching.endLine) reaching = finding;
    }
  }
  const order = new Map(all.map((finding, index) => [finding, index]));
  const byOrder = (a: Finding, b: Finding) => (order.get(a) ?? 0) - (order.get(b) ?? 0);
  const groups = new Set<Finding[]>();
  for (const finding of all) groups.add(groupOf.get(finding) ?? [finding]);
  return [...groups].map((group) => group.toSorted(byOrder));
}

function mergeGroup(group: readonly Finding[]): Finding {
  const best = group.reduce((kept, finding) => (outranks(finding, kept) ? finding : kept));
  const onSameLines = group.filter(
    (finding) => finding.startLine === best.startLine && finding.endLine === best.endLine,
  );
  const replacements = new Set(
    onSameLines.map((finding) => finding.replacement).filter((text) => text !== null),
  );
  const [replacement = null] = replacements;
  return {
    ...best,
    severity: group.reduce<Severity>(
      (kept, { severity }) => (rank(severity) > rank(kept) ? severity : kept),
      best.severity,
    ),
    confidence: Math.max(...group.map((finding) => finding.confidence)),
    replacement: replacements.size === 1 ? replacement : null,
    body: withPlaces(best, group),
  };
}

function outranks(a: Finding, b: Finding): boolean {
  if (a.severity !== b.severity) return rank(a.severity) > rank(b.severity);
  return a.confidence > b.confidence;
}

function rank(severity: Severity): number {
  return severities.length - severities.indexOf(severity);
}

/** The same text with the same problem elsewhere in the file must not get lost in the merge. */
function withPlaces(best: Finding, group: readonly Finding[]): string {
  const apart = group.filter(
    (finding) => finding.endLine < best.startLine || finding.startLine > best.endLine,
  );
  const lines = [...new Set(apart.map((finding) => finding.startLine))].toSorted((a, b) => a - b);
  if (lines.length === 0) return best.body;
  const named = lines.slice(0, placesNamed).join(', ');
  const more = lines.length > placesNamed ? ` and ${lines.length - placesNamed} more` : '';
  const note = `Also at line ${named}${more}.`;
  const body = best.body === '' ? note : `${best.body}\n\n${note}`;
  return body.length <= 20_000 ? body : best.body;
}
