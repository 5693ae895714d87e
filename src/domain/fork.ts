import { protectionBy } from './protection.ts';
import { type Scope, scopeOf, scopesOverlap } from './scope-overlap.ts';
import { spellingFault } from './scope-pattern.ts';
import { isOpen, type SubtaskStatus } from './task.ts';

/** A row that an agent asks for while its task runs: what it found to be needed outside its own scope. */
export interface RequestedRow {
  readonly title: string;
  readonly goal: string;
  /** Literal paths or globs it alone may write. */
  readonly writes: readonly string[];
  /** Paths it should read. */
  readonly inputs: readonly string[];
  /** How one sees that it is done. */
  readonly verification: string;
}

export interface ForkContext {
  /** The row whose agent asks. Its attempt is over, whatever its status still says. */
  readonly requester: { readonly id: string; readonly row: number; readonly issue: number | null };
  /** All rows of the task. */
  readonly rows: readonly ForkRow[];
  /** Rows the task may have, those that were cut into others not counted. */
  readonly maxRows: number;
  /** `verify.protected` of the repository file. */
  readonly protectedGlobs?: readonly string[];
}

export interface ForkRow {
  readonly id: string;
  readonly row: number;
  readonly status: SubtaskStatus;
  readonly writes: readonly string[];
  readonly title: string;
  readonly dependsOn?: readonly string[];
}

export interface Admitted {
  readonly accepted: readonly {
    /** As it was asked for, in one spelling, with a title no other row has. */
    readonly requested: RequestedRow;
    /** Ids of rows it waits for, in the order of the rows. */
    readonly dependsOn: readonly string[];
  }[];
  /** Titles as they were asked for: text of an agent. */
  readonly refused: readonly { readonly title: string; readonly reason: string }[];
}

const maxTitle = 100;
const none: ReadonlySet<string> = new Set();

/**
 * Which of the rows an agent asks for may join its task. One that could write what an open row writes is refused; one
 * that could write what a finished row wrote comes after that row, and so does one that could write what its requester
 * did. New rows wait for rows that are there and nothing waits for them, so no circle can come of them. Without the
 * tree at hand a pattern is taken both as a name and as a glob: in doubt scopes overlap.
 */
export function admitRequested(requested: readonly RequestedRow[], context: ForkContext): Admitted {
  const protection = protectionBy(context.protectedGlobs ?? []);
  const rows = context.rows
    .filter(({ id, status }) => isOpen(status) || status === 'succeeded' || id === context.requester.id)
    .map((row) => ({ ...row, scope: scopeOf(row.writes, [], none) }))
    .toSorted((a, b) => a.row - b.row);
  const titles = new Set(context.rows.map(({ title }) => title.toLowerCase()));
  let room = context.maxRows - context.rows.filter(({ status }) => status !== 'split').length;
  const accepted: { requested: RequestedRow; dependsOn: string[]; scope: Scope }[] = [];
  const refused: { title: string; reason: string }[] = [];
  for (const given of requested) {
    const row = tidy(given);
    const scope = scopeOf(row.writes, [], none);
    const over = rows.filter((other) => scopesOverlap(scope, other.scope));
    const reason = refusal(row, scope, over);
    if (reason !== null) {
      refused.push({ title: given.title, reason });
      continue;
    }
    const title = freeTitle(row.title, titles);
    titles.add(title.toLowerCase());
    room -= 1;
    accepted.push({ requested: { ...row, title }, dependsOn: over.map(({ id }) => id), scope });
  }
  return {
    accepted: accepted.map(({ requested: row, dependsOn }) => ({ requested: row, dependsOn })),
    refused,
  };

  function refusal(row: RequestedRow, scope: Scope, over: readonly (ForkRow & { scope: Scope })[]) {
    const lacking = (['title', 'goal', 'verification'] as const).find((part) => row[part] === '');
    if (lacking !== undefined) return `its ${lacking} is empty`;
    if (row.writes.length === 0) return 'it names nothing it would write';
    for (const pattern of row.writes) {
      const fault = spellingFault(pattern);
      if (fault !== null) return `${JSON.stringify(pattern)} ${fault}`;
      // What the plan did not open by name, no agent opens for another.
      const kind = protection(pattern);
      if (kind === 'never') return `${JSON.stringify(pattern)} is changed by people alone`;
      if (kind !== null) return `${JSON.stringify(pattern)} is protected: the plan alone may name it`;
    }
    const twin = accepted.find((other) => scopesOverlap(scope, other.scope));
    if (twin !== undefined)
      return `it may write what ${JSON.stringify(twin.requested.title)}, asked for before it, may write`;
    const open = over.find(({ id, status }) => isOpen(status) && id !== context.requester.id);
    if (open !== undefined)
      return `it may write what row ${open.row + 1} (${JSON.stringify(open.title)}) may write, which is not over`;
    const same = over.find(({ title }) => title.toLowerCase() === row.title.toLowerCase());
    if (same !== undefined) return `row ${same.row + 1} of that title did it already`;
    if (room <= 0) return `the task has the ${context.maxRows} rows it may have`;
    return null;
  }
}

/** One spelling for what is compared. Inputs are only read: those that can be no file are left out. */
function tidy(row: RequestedRow): RequestedRow {
  const paths = (list: readonly string[]) => [...new Set(list.map((path) => path.replace(/^(?:\.\/)+/, '')))];
  return {
    title: row.title.replace(/\s+/g, ' ').trim().slice(0, maxTitle).toWellFormed().trim(),
    goal: row.goal.trim(),
    writes: paths(row.writes),
    inputs: paths(row.inputs).filter((path) => spellingFault(path) === null),
    verification: row.verification.trim(),
  };
}

function freeTitle(title: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? '' : ` (${count})`;
    const name = `${title.slice(0, maxTitle - suffix.length).trim()}${suffix}`;
    if (!taken.has(name.toLowerCase())) return name;
  }
}
