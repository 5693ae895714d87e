import type { Judgement } from './judge.ts';
import type { PaidTurns } from './paid-turns.ts';

/** The figures of a storm, as they are printed. */
export interface StormResult {
  readonly kills: number;
  readonly tasks: number;
  readonly lost: number;
  readonly duplicatePublications: number;
  readonly stuckChecks: number;
  readonly orphanSandboxes: number;
  readonly modelTurnsPaidTwice: number;
  readonly modelTurnsInFlight: number;
  readonly wallMs: number;
}

export interface StormReport {
  readonly result: StormResult;
  /** What is behind the figures that should be 0, a line each. */
  readonly faults: readonly string[];
  /** What went wrong beside: a process that ended by itself, a request that GitHub or the model would not take. */
  readonly problems: readonly string[];
  /** What kills and outages happened, and other things worth a look. */
  readonly notes: readonly string[];
}

export function figuresOf(
  judged: Judgement,
  turns: PaidTurns,
  counted: { readonly kills: number; readonly tasks: number; readonly wallMs: number },
): StormResult {
  return {
    kills: counted.kills,
    tasks: counted.tasks,
    lost: judged.lost.length,
    duplicatePublications: judged.duplicatePublications.length,
    stuckChecks: judged.stuckChecks.length,
    orphanSandboxes: judged.orphanSandboxes.length,
    modelTurnsPaidTwice: turns.paidTwice,
    modelTurnsInFlight: turns.inFlight,
    wallMs: Math.round(counted.wallMs),
  };
}

export function passed({ result, problems }: Pick<StormReport, 'result' | 'problems'>): boolean {
  const { lost, duplicatePublications, stuckChecks, orphanSandboxes } = result;
  return (
    lost + duplicatePublications + stuckChecks + orphanSandboxes === 0 &&
    result.modelTurnsPaidTwice <= result.modelTurnsInFlight &&
    problems.length === 0
  );
}

export function renderReport(report: StormReport): string {
  const { result, faults, problems, notes } = report;
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  const figures = Object.entries(result).map(([name, value]) => `${name.padEnd(width)}  ${value}`);
  return [
    ...notes,
    ...faults.map((one) => `fault: ${one}`),
    ...problems.map((one) => `problem: ${one}`),
    ...figures,
  ].join('\n');
}
