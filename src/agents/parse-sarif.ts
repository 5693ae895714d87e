import { z } from 'zod';
import { PatchfleetError } from '../domain/failure.ts';
import type { Severity } from '../domain/finding.ts';
import { type RawResult, relativePath } from './raw-result.ts';

/** SARIF 2.1.0 (OASIS), the parts that say what is wrong where. Other properties are ignored. */

const level = z.enum(['none', 'note', 'warning', 'error']);
const message = z.object({
  text: z.string().optional(),
  markdown: z.string().optional(),
  id: z.string().optional(),
  arguments: z.array(z.string()).optional(),
});
const region = z.object({
  startLine: z.int().min(1).optional(),
  startColumn: z.int().min(1).optional(),
  endLine: z.int().min(1).optional(),
  endColumn: z.int().min(1).optional(),
});
const artifactLocation = z.object({ uri: z.string().optional(), index: z.int().optional() });
const rule = z.object({
  id: z.string(),
  shortDescription: message.optional(),
  messageStrings: z.record(z.string(), message).optional(),
  defaultConfiguration: z.object({ level: level.optional() }).optional(),
});
const result = z.object({
  ruleId: z.string().optional(),
  ruleIndex: z.int().optional(),
  rule: z.object({ id: z.string().optional(), index: z.int().optional() }).optional(),
  kind: z.string().optional(),
  level: level.optional(),
  baselineState: z.string().optional(),
  suppressions: z.array(z.object({ status: z.string().optional() })).optional(),
  message,
  locations: z
    .array(
      z.object({
        physicalLocation: z
          .object({ artifactLocation: artifactLocation.optional(), region: region.optional() })
          .optional(),
      }),
    )
    .optional(),
  fixes: z
    .array(
      z.object({
        artifactChanges: z.array(
          z.object({
            artifactLocation,
            replacements: z.array(
              z.object({
                deletedRegion: region,
                insertedContent: z.object({ text: z.string().optional() }).optional(),
              }),
            ),
          }),
        ),
      }),
    )
    .optional(),
});
const run = z.object({
  tool: z.object({ driver: z.object({ name: z.string(), rules: z.array(rule).optional() }) }),
  artifacts: z.array(z.object({ location: artifactLocation.optional() })).optional(),
  invocations: z.array(z.object({ executionSuccessful: z.boolean().optional() })).optional(),
  /** Null: the run was started and then not done. */
  results: z.array(result).nullish(),
});
const sarif = z.object({ version: z.literal('2.1.0'), runs: z.array(run) });

type Run = z.infer<typeof run>;
type Result = z.infer<typeof result>;
type Region = z.infer<typeof region>;

/**
 * The results of a SARIF log, and how many of them name no file and line. Results that are no problems (passed,
 * suppressed, absent from the baseline) are left out. Fails with `output_invalid` when the text is not SARIF
 * 2.1.0, or when the tool says itself that its run did not succeed.
 */
export function parseSarif(text: string, workspace: string): { results: RawResult[]; unplaced: number } {
  let value: unknown;
  try {
    // A byte order mark is common where the tool was written on Windows.
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new PatchfleetError('output_invalid', `not JSON: ${JSON.stringify(text.slice(0, 200))}`);
  }
  const parsed = sarif.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new PatchfleetError(
      'output_invalid',
      `not SARIF 2.1.0: ${issue?.path.join('.')}: ${issue?.message}`,
    );
  }
  const results: RawResult[] = [];
  let unplaced = 0;
  for (const one of parsed.data.runs) {
    if (one.results === null || one.invocations?.some((call) => call.executionSuccessful === false)) {
      throw new PatchfleetError(
        'output_invalid',
        `${one.tool.driver.name} reports that its run did not succeed`,
      );
    }
    for (const found of one.results ?? []) {
      if (!isProblem(found)) continue;
      const raw = readResult(found, one, workspace);
      if (raw === null) unplaced += 1;
      else results.push(raw);
    }
  }
  return { results, unplaced };
}

function isProblem(found: Result): boolean {
  if (found.kind !== undefined && ['pass', 'notApplicable', 'informational'].includes(found.kind))
    return false;
  if (found.baselineState === 'absent') return false;
  return !found.suppressions?.some(({ status }) => status === undefined || status === 'accepted');
}

function readResult(found: Result, one: Run, workspace: string): RawResult | null {
  const rules = one.tool.driver.rules ?? [];
  const id = found.ruleId ?? found.rule?.id;
  const index = found.ruleIndex ?? found.rule?.index ?? -1;
  const ruleOf =
    rules[index] ?? rules.find((candidate) => candidate.id === id || id?.startsWith(`${candidate.id}/`));
  const place = found.locations?.[0]?.physicalLocation;
  const path = pathOf(place?.artifactLocation, one, workspace);
  const startLine = place?.region?.startLine;
  if (path === null || startLine === undefined) return null;
  const endLine = lastLine(place?.region ?? {}, startLine);
  return {
    path,
    startLine,
    endLine,
    severity: severityOf(found.level ?? ruleOf?.defaultConfiguration?.level ?? 'warning'),
    rule: id ?? ruleOf?.id ?? one.tool.driver.name,
    message: messageOf(found, ruleOf) || (ruleOf?.shortDescription?.text ?? 'a problem without a message'),
    fix: fixOf(found, one, path, workspace),
  };
}

function severityOf(value: z.infer<typeof level>): Severity {
  return value === 'none' ? 'note' : value;
}

/** A region that ends at column 1 of a line holds nothing of that line. */
function lastLine(area: Region, startLine: number): number {
  const endLine = Math.max(area.endLine ?? startLine, startLine);
  return area.endColumn === 1 && endLine > startLine ? endLine - 1 : endLine;
}

function pathOf(location: z.infer<typeof artifactLocation> | undefined, one: Run, workspace: string) {
  const uri = location?.uri ?? one.artifacts?.[location?.index ?? -1]?.location?.uri;
  if (uri === undefined || uri === '') return null;
  const withoutScheme = uri.replace(/^file:(?:\/\/[^/]*)?(?=\/)/, '');
  return relativePath(decode(withoutScheme), workspace);
}

/** Tools that forget to encode a lone `%` are taken at their word. */
function decode(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

function messageOf(found: Result, ruleOf: z.infer<typeof rule> | undefined): string {
  const { text, markdown, id, arguments: given = [] } = found.message;
  const template = text ?? markdown ?? ruleOf?.messageStrings?.[id ?? '']?.text ?? '';
  return template.replace(/\{(\d+)\}/g, (hole, number: string) => given[Number(number)] ?? hole).trim();
}

/** The fix, where it is one replacement of whole lines in the file of the finding. */
function fixOf(found: Result, one: Run, path: string, workspace: string): RawResult['fix'] {
  const changes = found.fixes?.[0]?.artifactChanges ?? [];
  const replacements = changes[0]?.replacements ?? [];
  const [replacement] = replacements;
  if (changes.length !== 1 || replacements.length !== 1 || replacement === undefined) return null;
  if (pathOf(changes[0]?.artifactLocation, one, workspace) !== path) return null;
  const { startLine, startColumn = 1, endLine = startLine, endColumn } = replacement.deletedRegion;
  const text = replacement.insertedContent?.text ?? '';
  if (startLine === undefined || endLine === undefined || startColumn !== 1 || endLine < startLine)
    return null;
  // Without an end column the region goes to the end of its last line, the newline excluded.
  if (endColumn === undefined) return { startLine, endLine, text };
  if (endColumn !== 1 || endLine === startLine || !text.endsWith('\n')) return null;
  return { startLine, endLine: endLine - 1, text: text.slice(0, -1) };
}
