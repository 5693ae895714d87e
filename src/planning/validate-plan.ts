import type { PlanProposal } from '../agents/port.ts';
import type { ProtectionOf } from '../domain/protected-paths.ts';
import { isGlob, literalWhereItExists } from '../domain/scope.ts';
import { pathsThatExist, type Scope, scopeOf } from '../domain/scope-overlap.ts';
import { spellingFault } from '../domain/scope-pattern.ts';
import { collisions, findCycle, orderCollisions } from './row-order.ts';

/** What a proposed plan is held against. */
export interface PlanFacts {
  /** Paths of all files of the commit that is worked on. */
  readonly files: readonly string[];
  readonly maxRows: number;
  readonly protection: ProtectionOf;
  /** Rows that may write the same file without an order between them: a fault, or the later waits for the earlier. */
  readonly collisions: 'fault' | 'order';
}

export interface ValidRow {
  readonly title: string;
  readonly goal: string;
  readonly writes: readonly string[];
  readonly inputs: readonly string[];
  /** Positions, ascending. */
  readonly dependsOn: readonly number[];
  /** Some of {@link dependsOn} were asked for; false: it only must not run beside them. */
  readonly needsSuccess: boolean;
  readonly verification: string;
  readonly scope: Scope;
}

const maxTitle = 100;
/** Collisions and the like that are named; the rest is counted. */
const maxAlike = 20;

/** The plan's rows, or everything that is wrong with it at once, in words a model can act on. */
export function validatePlan(
  proposal: PlanProposal,
  facts: PlanFacts,
): { readonly rows: readonly ValidRow[] } | { readonly faults: readonly string[] } {
  const existing = pathsThatExist(facts.files);
  const files = new Set(facts.files);
  const rows = proposal.rows.map((row) => ({
    title: row.title.replace(/\s+/g, ' ').trim(),
    goal: row.goal.trim(),
    writes: [...new Set(row.writes.map((pattern) => pattern.replace(/^(?:\.\/)+/, '')))],
    inputs: [...new Set(row.inputs.map((path) => path.replace(/^(?:\.\/)+/, '')))],
    dependsOn: [...new Set(row.depends_on)].toSorted((a, b) => a - b),
    verification: row.verification.trim(),
  }));
  const faults: string[] = [];
  if (rows.length === 0) faults.push('the plan has no rows');
  if (rows.length > facts.maxRows)
    faults.push(`the plan has ${rows.length} rows; at most ${facts.maxRows} are allowed: join some`);

  const titles = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const say = (fault: string) => faults.push(`row ${index} (${shown(row.title)}): ${fault}`);
    if (row.title === '') say('the title is empty');
    if (row.title.length > maxTitle) say(`the title has more than ${maxTitle} characters`);
    const twin = titles.get(row.title.toLowerCase());
    if (twin !== undefined) say(`the title is that of row ${twin}, too`);
    else titles.set(row.title.toLowerCase(), index);
    if (row.goal === '') say('the goal is empty');
    if (row.verification === '') say('the verification is empty: say how one sees that it is done');
    if (row.writes.length === 0) say('writes is empty: name the files or globs it may write');
    for (const pattern of row.writes) {
      const fault = patternFault(pattern, facts, existing, files);
      if (fault !== null) say(fault);
    }
    for (const path of row.inputs)
      if (!files.has(path)) say(`the input ${shown(path)} is no file of the repository`);
    for (const other of row.dependsOn) {
      if (other === index) say('it depends on itself');
      else if (rows[other] === undefined)
        say(`it depends on row ${other}, which does not exist (rows are 0 to ${rows.length - 1})`);
    }
  }
  const dependsOn = rows.map((row, index) => row.dependsOn.filter((other) => other !== index));
  const cycle = findCycle(dependsOn);
  if (cycle !== null)
    faults.push(`the rows depend on each other in a circle: ${[...cycle, cycle[0]].join(' -> ')}`);

  const scopes = rows.map((row) => scopeOf(row.writes, facts.files, existing));
  if (cycle === null && facts.collisions === 'fault') faults.push(...collisionFaults(scopes, dependsOn));
  if (faults.length > 0) return { faults };
  const ordered = facts.collisions === 'order' ? orderCollisions(scopes, dependsOn) : dependsOn;
  return {
    rows: rows.map((row, index) => ({
      ...row,
      dependsOn: ordered[index] ?? [],
      needsSuccess: row.dependsOn.length > 0,
      scope: scopes[index] ?? never(),
    })),
  };
}

function patternFault(
  pattern: string,
  { files, protection }: PlanFacts,
  existing: ReadonlySet<string>,
  set: ReadonlySet<string>,
): string | null {
  const name = shown(pattern);
  if (pattern.trim() === '') return 'writes has an empty pattern';
  const spelling = spellingFault(pattern);
  if (spelling !== null) return `${name} ${spelling}`;
  const isDirectory = existing.has(pattern) && !set.has(pattern);
  if (isDirectory) return `${name} is a directory; for all files in it write ${shown(`${pattern}/**`)}`;
  // A directory's slash is a glob as well.
  const literal = literalWhereItExists(pattern, (path) => existing.has(path));
  if (!isGlob(literal.replace(/\\./g, '')) && !pattern.endsWith('/'))
    return protection(pattern) === 'never' ? `${name} is changed by people alone; plan without it` : null;
  const { covers } = scopeOf([pattern], files, existing);
  // `app/[slug]/page.ts` may well be a new file of that name.
  if (covers.length === 0 && /[*?{]|\/$/.test(pattern))
    return `the glob ${name} matches no file of the repository; name new files literally`;
  if (covers.length > 0 && covers.every((path) => protection(path) !== null))
    return `the glob ${name} matches protected files alone (tests, scripts, runner configuration, lockfiles); name each that must be written literally`;
  return null;
}

function collisionFaults(scopes: readonly Scope[], dependsOn: readonly (readonly number[])[]): string[] {
  const found = collisions(scopes, dependsOn);
  const faults = found.slice(0, maxAlike).map(([lower, upper]) => {
    const common = scopes[upper]?.covers.find((path) => scopes[lower]?.covered.has(path));
    const where = common === undefined ? 'the same new file' : shown(common);
    return `rows ${lower} and ${upper} may both write ${where}: make their scopes disjoint, join them, or let one depend on the other`;
  });
  if (found.length > maxAlike) faults.push(`${found.length - maxAlike} more pairs of rows collide`);
  return faults;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200).toWellFormed()}...` : text);
}

function never(): never {
  throw new Error('a row without its scope');
}
