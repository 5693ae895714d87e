import { type Document, isNode, isPair, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { z } from 'zod';
import { describeValid } from './describe-valid.ts';
import { nearest } from './nearest.ts';

/** One thing wrong with a configuration file or the environment. */
export interface Problem {
  /** e.g. `review.fail_on`, `commands[0].name`; empty for the file as a whole. */
  readonly key: string;
  /** 1-based; null where there are no lines (the environment). */
  readonly line: number | null;
  readonly column: number | null;
  /** What is wrong, with what was got. */
  readonly message: string;
  /** What would be right. */
  readonly valid: string;
}

export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export type Path = readonly PropertyKey[];

/** A problem found by a check that zod does not make, by the path of its value. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  readonly valid: string;
}

/** A configuration is small; what is larger was meant to hurt. */
const maxBytes = 128 * 1024;
const maxAliases = 50;
/** Problems that are told. A file can be made to have tens of thousands, and to explain each takes time. */
const maxProblems = 100;

/**
 * Reads YAML text against a schema: the value, or its problems (the first hundred) in order of lines. `null` and empty
 * text are an empty file. `check`: what only the whole value shows, run when the schema holds.
 */
export function readYamlConfig<S extends z.ZodType>(
  text: string | null,
  schema: S,
  check: (value: z.infer<S>) => readonly Finding[] = () => [],
): Read<z.infer<S>> {
  const source = text ?? '';
  if (Buffer.byteLength(source) > maxBytes) {
    return whole(`the file is larger than ${maxBytes / 1024} KiB`, 'a smaller file');
  }
  const lines = new LineCounter();
  // Its own check for keys named twice holds each key against all others of the mapping.
  const document = parseDocument(source, {
    lineCounter: lines,
    stringKeys: true,
    prettyErrors: false,
    uniqueKeys: false,
  });
  const at = (offset: number | undefined) => {
    const { line, col } = lines.linePos(offset ?? 0);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems: Problem[] = document.errors.map((error) => ({
    key: '',
    ...at(error.pos[0]),
    message: `not valid YAML: ${error.message}`,
    valid: 'YAML 1.2; indent with spaces and quote values that hold special characters',
  }));
  problems.push(
    ...keysNamedTwice(document).map(({ key, offset }) => ({
      key: '',
      ...at(offset),
      message: `not valid YAML: the key \`${key}\` stands twice in one mapping`,
      valid: 'each key once',
    })),
  );
  if (problems.length > 0) return told(problems, problems.length);

  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maxAliases }) ?? {};
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return whole(
      `the aliases cannot be resolved: ${message}`,
      `at most ${maxAliases} uses of anchors, none of itself`,
    );
  }
  const place = (path: Path) => at(offsetOf(document, path));
  const nul = findNul(document);
  if (nul !== null) {
    problems.push({
      key: '',
      ...at(nul),
      message: 'a text holds the character U+0000',
      valid: 'text without it',
    });
  }
  const parsed = schema.safeParse(value);
  const issues = parsed.error?.issues ?? [];
  const findings = parsed.success
    ? check(parsed.data)
    : issues.slice(0, maxProblems).flatMap((issue) => explain(issue, schema, value));
  const total = problems.length + (parsed.success ? findings.length : countOf(issues));
  for (const { path, message, valid } of findings.slice(0, maxProblems)) {
    problems.push({ key: keyOf(path), ...place(path), message, valid });
  }
  return parsed.success && problems.length === 0 ? { ok: true, value: parsed.data } : told(problems, total);
}

function countOf(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
}

/** `total`: how many there are, of which `problems` are those that were explained. */
function told(problems: readonly Problem[], total: number): { ok: false; problems: Problem[] } {
  const shown = problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, maxProblems);
  if (total === shown.length) return { ok: false, problems: shown };
  const message = `${total - shown.length} more problems are not shown`;
  return { ok: false, problems: [...shown, { key: '', line: null, column: null, message, valid: 'none' }] };
}

/** Problems of a zod issue, by the path of the key that is at fault. */
export function explain(issue: z.core.$ZodIssue, schema: z.ZodType, root: unknown): Finding[] {
  const path = issue.path;
  if (issue.code === 'unrecognized_keys') {
    const known = describeValid(schema, path, root).keys;
    return issue.keys.slice(0, maxProblems).map((key) => {
      const meant = nearest(key, known);
      const valid = `${meant === null ? '' : `did you mean \`${meant}\`? `}Known keys: ${known.join(', ')}`;
      return { path: [...path, key], message: `unknown key \`${key}\``, valid };
    });
  }
  const got = valueAt(root, path);
  const message = got === undefined ? 'is missing' : `${JSON.stringify(got).slice(0, 200)} is not valid`;
  const own = issue.code === 'invalid_format' || issue.code === 'custom' ? issue.message : '';
  const described = describeValid(schema, path, root).text;
  const valid =
    own === '' || /^Invalid/.test(own) ? described : `${own}${described === '' ? '' : ` (${described})`}`;
  return [{ path, message, valid }];
}

export function keyOf(path: Path): string {
  return path
    .map((part, index) =>
      typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`,
    )
    .join('');
}

function valueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value;
}

/** Where the value at the path begins in the source: at its key if it has one, else its nearest ancestor. */
function offsetOf(document: Document, path: Path): number | undefined {
  let offset: number | undefined;
  let node: unknown = document.contents;
  for (const part of path) {
    if (isNode(node) && 'items' in node && Array.isArray(node.items)) {
      const items: readonly unknown[] = node.items;
      const pair = items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === part,
      );
      const found = isPair(pair) ? pair : typeof part === 'number' ? items[part] : undefined;
      if (found === undefined) return offset;
      offset = startOf(isPair(found) ? found.key : found) ?? offset;
      node = isPair(found) ? found.value : found;
    } else return offset;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined;
}

function keysNamedTwice(document: Document): { key: string; offset: number }[] {
  const found: { key: string; offset: number }[] = [];
  visit(document, {
    Map: (_key, { items }) => {
      const seen = new Set<string>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const name = String(key.value);
        if (seen.has(name)) found.push({ key: name, offset: key.range?.[0] ?? 0 });
        seen.add(name);
      }
    },
  });
  return found;
}

function findNul(document: Document): number | null {
  let offset: number | null = null;
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value !== 'string' || !node.value.includes('\0')) return undefined;
      offset = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

function whole(message: string, valid: string): { ok: false; problems: Problem[] } {
  return { ok: false, problems: [{ key: '', line: 1, column: 1, message, valid }] };
}

/** A problem as one line of plain text, e.g. for logs and check runs. */
export function formatProblem(file: string, problem: Problem): string {
  const place = problem.line === null ? file : `${file}:${problem.line}`;
  const key = problem.key === '' ? '' : `\`${problem.key}\`: `;
  return `${place}: ${key}${problem.message}. Valid: ${problem.valid}`;
}
