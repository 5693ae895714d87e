import { isGlob } from './scope.ts';
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

export interface AdmissionContext {
  readonly requester: { readonly row: number; readonly issue: number | null };
  readonly rows: readonly {
    readonly id: string;
    readonly row: number;
    readonly status: SubtaskStatus;
    readonly writes: readonly string[];
    readonly title: string;
  }[];
  /** Rows the task may have. */
  readonly maxRows: number;
}

export interface Admission {
  readonly accepted: readonly {
    readonly requested: RequestedRow;
    /** Ids of rows that wrote what it may write: it builds upon them. */
    readonly dependsOn: readonly string[];
  }[];
  readonly refused: readonly { readonly title: string; readonly reason: string }[];
}

/** Which of the requested rows join the graph: those whose scope nobody has, or will have, at the same time. */
export function admitRequested(requested: readonly RequestedRow[], context: AdmissionContext): Admission {
  const accepted: { requested: RequestedRow; dependsOn: string[] }[] = [];
  const refused: { title: string; reason: string }[] = [];
  for (const row of requested) {
    const reason = whyNot(row, accepted, context);
    if (reason !== null) refused.push({ title: row.title, reason });
    else accepted.push({ requested: row, dependsOn: writersOf(row, context).map(({ id }) => id) });
  }
  return { accepted, refused };
}

function whyNot(
  row: RequestedRow,
  accepted: readonly { readonly requested: RequestedRow }[],
  context: AdmissionContext,
): string | null {
  if (context.rows.length + accepted.length >= context.maxRows)
    return `the task may have ${context.maxRows} rows`;
  if (row.writes.length === 0) return 'it names nothing to write';
  const glob = row.writes.find(isGlob);
  if (glob !== undefined) return `\`${glob}\` is not a literal path`;
  const sibling = accepted.find((other) => other.requested.writes.some((path) => row.writes.includes(path)));
  if (sibling !== undefined) return `its scope overlaps with that of "${sibling.requested.title}"`;
  const open = context.rows.find(
    (other) => isOpen(other.status) && (other.writes.some(isGlob) || overlaps(other.writes, row.writes)),
  );
  return open === undefined ? null : `its scope overlaps with that of row ${open.row + 1}, which is not over`;
}

function writersOf(row: RequestedRow, { rows }: AdmissionContext) {
  return rows.filter(({ status, writes }) => status === 'succeeded' && overlaps(writes, row.writes));
}

function overlaps(a: readonly string[], b: readonly string[]): boolean {
  return a.some((path) => b.includes(path));
}
