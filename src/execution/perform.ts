import type { AttemptResult } from '../store/port/attempts.ts';
import type { Store } from '../store/port.ts';

/** A claimed attempt with its rows. */
export type Work = NonNullable<Awaited<ReturnType<Store['attempts']['claim']>>>;

/** What the life of an attempt gives to its work. */
export interface AttemptTools {
  /** Aborts for the wall and idle limits, a lost claim, a cancel, a shutdown. */
  readonly signal: AbortSignal;
  /** A sign of life. */
  readonly alive: () => void;
  /** Moves the wall-clock limit out, for work that has limits of its own. */
  readonly extend: (ms: number) => void;
  /** A line of the attempt's log. */
  readonly log: (line: string) => void;
  /** The agent begins in this container. Throws when the claim is gone. */
  readonly started: (containerId: string) => Promise<void>;
}

/** Does one kind of work. Throws a PatchfleetError for every failure. */
export type Perform = (
  work: Work,
  tools: AttemptTools,
) => Promise<Omit<AttemptResult, 'artifacts'> & Partial<Pick<AttemptResult, 'artifacts'>>>;

/** Chooses the work by the kinds of task and row. */
export function performByKind(kinds: {
  readonly review: Perform;
  readonly fix: Perform;
  readonly triage: Perform;
  readonly integrate: Perform;
}): Perform {
  return (work, tools) => {
    if (work.subtask.kind === 'integrate') return kinds.integrate(work, tools);
    switch (work.task.kind) {
      case 'review':
        return kinds.review(work, tools);
      case 'triage':
        return kinds.triage(work, tools);
      case 'fix':
      case 'batch':
      case 'campaign':
        return kinds.fix(work, tools);
    }
  };
}
