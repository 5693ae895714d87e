/** What a benchmark gives, and how it is shown. Times are milliseconds. */

export interface BenchContext {
  /** Tells of progress, on standard error. */
  readonly say: (line: string) => void;
  /** Aborts when the benchmark is to stop; it leaves nothing behind then either. */
  readonly signal: AbortSignal;
  /** Only cases whose name contains one of these; empty: all. */
  readonly only: readonly string[];
}

export type Bench = (context: BenchContext) => Promise<BenchReport>;

export interface BenchReport {
  /** What `--json` prints. */
  readonly json: object;
  /** What people read. */
  readonly text: string;
}

/** Whether a case is asked for. */
export function isAsked(name: string, { only }: Pick<BenchContext, 'only'>): boolean {
  return only.length === 0 || only.some((part) => name.includes(part));
}

/** A table with its columns aligned: the first `left` of them to the left. */
export function renderTable(rows: readonly (readonly string[])[], left: number): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i < left ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function seconds(ms: number | null): string {
  return ms === null ? '-' : `${(ms / 1000).toFixed(2)} s`;
}

/** To three places. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
