import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Severity } from '../../../src/domain/finding.ts';
import { plantedFaults } from '../model/planted-faults.ts';
import type { Change } from './change.ts';
import { libraryChanges } from './change-libraries.ts';
import { shopChanges } from './change-shop.ts';

/** Contents by path; null deletes. As the GitHub double takes them. */
type Files = Record<string, string | Buffer | null>;

export interface Planted {
  readonly path: string;
  /** 1-based, in the head. */
  readonly line: number;
  readonly rule: string;
  readonly severity: Severity;
}

export interface Sample {
  /** The repository before the pull request. */
  readonly base: Readonly<Record<string, string>>;
  /** What the pull request changes, against `base`. */
  readonly head: Readonly<Files>;
  /** The faults in it, sorted by path and line. */
  readonly planted: readonly Planted[];
}

const baseDir = fileURLToPath(new URL('./base', import.meta.url));

/**
 * A monorepo of six packages that import each other, with tests of their own, and a pull request over all of them:
 * faults of every kind the scripted reviewer knows, harmless changes, a deleted file, one renamed and edited, one
 * binary, names with brackets and umlauts. The same on every call.
 */
export function readSample(): Sample {
  const base = readBase();
  const changes = [...libraryChanges, ...shopChanges];
  const head: Files = {};
  const planted: Planted[] = [];
  for (const change of changes) {
    const text = apply(change, base[change.path]);
    head[change.path] = text;
    planted.push(...locate(change, text));
  }
  Object.assign(head, otherChanges(base));
  return { base, head, planted: planted.toSorted(byPlace) };
}

function readBase(): Record<string, string> {
  const entries = readdirSync(baseDir, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    paths
      .map((path) => [relative(baseDir, path).split(sep).join('/'), readFileSync(path, 'utf8')] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function apply(change: Change, before: string | undefined): string {
  if (before === undefined) throw new Error(`the sample has no ${change.path}`);
  const replaced = change.replace.reduce((text, [from, to]) => {
    if (text.split(from).length !== 2) throw new Error(`not once in ${change.path}: ${from}`);
    return text.replace(from, () => to);
  }, before);
  return replaced + change.append;
}

function locate(change: Change, text: string): Planted[] {
  const lines = text.split('\n');
  return change.faults.map(({ rule, line }) => {
    const known = plantedFaults.find((candidate) => candidate.rule === rule);
    const at = lines.indexOf(line);
    if (known === undefined || !known.pattern.test(line)) throw new Error(`not a fault of ${rule}: ${line}`);
    if (at < 0 || lines.lastIndexOf(line) !== at) throw new Error(`not once in ${change.path}: ${line}`);
    return { path: change.path, line: at + 1, rule, severity: known.severity };
  });
}

/** What appending and replacing cannot tell. */
function otherChanges(base: Readonly<Record<string, string>>): Files {
  const read = (path: string) => {
    const text = base[path];
    if (text === undefined) throw new Error(`the sample has no ${path}`);
    return text;
  };
  return {
    'packages/collections/src/count-by.js': null,
    'packages/text/src/pad.js': null,
    'packages/text/src/columns.js': read('packages/text/src/pad.js').replace('gap = 2', 'gap = 3 - 1'),
    'app/[id]/leaf.png': Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  };
}

/** By path as code units compare, then by line. */
export function byPlace(a: { path: string; line: number }, b: { path: string; line: number }): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line;
}
