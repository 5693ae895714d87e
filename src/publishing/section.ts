import type { TaskView } from '../store/port/views.ts';
import type { Publication } from '../store/port.ts';
import { type Conclusion, conclude, worst } from './conclude.ts';

/** The part of one pull request in the check run of a head: its newest task, and what became of its review. */
export interface Section {
  readonly view: TaskView;
  /** Null until publishing decided about the review. */
  readonly review: ReviewRecord | null;
}

/** What the row of a review publication says, once it is settled. */
export interface ReviewRecord {
  readonly posted: boolean;
  readonly url: string | null;
  readonly inline: number;
  readonly inBody: number;
  /** Findings that fitted nowhere. */
  readonly leftOut: number;
  /** Findings that an earlier review of this pull request already showed. */
  readonly known: number;
  /** Why there is no review, for people; null where there is one or none was called for. */
  readonly reason: string | null;
}

/** Null while the row is not settled. */
export function readReviewRecord(row: Publication | null): ReviewRecord | null {
  if (row === null || (row.status !== 'done' && row.status !== 'failed')) return null;
  const count = (name: string) => Number(row.detail[name] ?? 0);
  const failed = row.status === 'failed';
  const reason = row.detail['reason'];
  return {
    posted: !failed && row.githubId !== null,
    url: failed ? null : row.url,
    inline: failed ? 0 : count('inline'),
    inBody: failed ? 0 : count('inBody'),
    leftOut: count('leftOut'),
    known: count('known'),
    reason: failed
      ? (row.failure?.detail ?? 'GitHub refused it')
      : typeof reason === 'string'
        ? reason
        : null,
  };
}

/** How the shared check run ends; null while any of its pull requests is not through. */
export function concludeSections(sections: readonly Section[]): Conclusion | null {
  return worst(
    sections.map((section) => {
      const verdict = verdictOf(section);
      const ready = section.view.task.phase === 'finished' || section.review !== null;
      return {
        ...verdict,
        conclusion: ready ? verdict.conclusion : null,
        superseded: section.view.task.outcome === 'superseded',
      };
    }),
  );
}

export function verdictOf({ view }: Section) {
  return conclude(view, view.task.config?.review.fail_on ?? 'error');
}
