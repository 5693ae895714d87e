/** What a benchmark gives, and how it is shown. Times are milliseconds. */

export interface BenchContext {
  /** Tells of progress, on standard error. */
  readonly say: (line: string) => void;
  /** Aborts when the benchmark is to stop; it leaves nothing behind then either. */
  readonly signal: AbortSignal;
}

export type Bench = (context: BenchContext) => Promise<BenchResult>;

export interface BenchResult {
  readonly name: string;
  readonly subtasks: number;
  readonly parallel: number;
  /** From the first subtask that could start to the end of the last. */
  readonly wallMs: number;
  /** What the work alone takes at that parallelism. */
  readonly idealMs: number;
  readonly ratio: number;
  /** From asking for it to the end of publishing. */
  readonly totalMs: number;
  /** Subtasks whose agents ran at one moment, at most. */
  readonly maxConcurrent: number;
  readonly stages: Readonly<Record<string, Stage>>;
}

export interface Stage {
  /** Once for each attempt, or once for the task. */
  readonly per: 'attempt' | 'task';
  readonly medianMs: number;
  readonly maxMs: number;
  /** Over all attempts, which run beside each other. */
  readonly sumMs: number;
  /** `sumMs` over parallel times ideal: what the stage adds to the ratio, were all workers always busy. */
  readonly share: number;
}

export function renderResult(result: BenchResult): string {
  const { name, subtasks, parallel, wallMs, idealMs, ratio, totalMs, maxConcurrent, stages } = result;
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
  const head = `${name}: ${subtasks} subtasks, ${parallel} at once (seen: ${maxConcurrent})`;
  const figures = `wall ${seconds(wallMs)}, ideal ${seconds(idealMs)}, ratio ${ratio}; from the request to the pull request ${seconds(totalMs)}`;
  const rows = [
    ['stage', 'per', 'median', 'max', 'sum', 'share'],
    ...Object.entries(stages).map(([stage, { per, medianMs, maxMs, sumMs, share }]) => [
      stage,
      per,
      ...[medianMs, maxMs, sumMs].map(seconds),
      share.toFixed(2),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  );
  return [head, figures, '', ...lines].join('\n');
}
