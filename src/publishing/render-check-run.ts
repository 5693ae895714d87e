import { fingerprint } from '../domain/finding.ts';
import { type Conclusion, mergedFindings, plural, worst } from './conclude.ts';
import { plainLine } from './defuse.ts';
import { fitItems, maxSummary } from './fit-markdown.ts';
import { type Annotation, annotationOf } from './render-findings.ts';
import { renderDetails, renderSummary } from './render-section.ts';
import { concludeSections, type Section, verdictOf } from './section.ts';

/** What a check run shall be on GitHub, annotations aside. */
export interface CheckRunContent {
  readonly status: 'queued' | 'in_progress' | 'completed';
  readonly conclusion: Conclusion | null;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly completedAt: string | null;
  readonly output: { readonly title: string; readonly summary: string; readonly text?: string };
}

/** Annotations of one check run in all; beyond it they are counted. GitHub's page shows far fewer well. */
export const maxAnnotations = 500;

/** GitHub's limit for a title. */
const maxTitle = 255;

/** The check run of a head that the pull requests of `sections` share. There is at least one. */
export function renderCheckRun(sections: readonly Section[]): CheckRunContent {
  const conclusion = concludeSections(sections);
  const tasks = sections.map(({ view }) => view.task);
  const planning = tasks.every((task) => task.phase === 'planning');
  const time = (dates: readonly (Date | null)[]) => dates.flatMap((date) => date?.getTime() ?? []);
  const iso = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  const text = renderParts(sections, renderDetails);
  return {
    status: conclusion !== null ? 'completed' : planning ? 'queued' : 'in_progress',
    conclusion,
    startedAt: iso(Math.min(...time(tasks.map((task) => task.createdAt)))),
    completedAt: conclusion === null ? null : iso(Math.max(0, ...time(tasks.map((task) => task.settledAt)))),
    output: {
      title: titleOf(sections),
      summary: renderParts(sections, (section, max) => {
        const note = annotationNote(section);
        return `${renderSummary(section, max - note.length)}${note}`;
      }),
      ...(text === '' ? {} : { text }),
    },
  };
}

/** The headline that explains the conclusion, or the progress. */
function titleOf(sections: readonly Section[]): string {
  const verdicts = sections.map((section) => ({
    ...verdictOf(section),
    superseded: section.view.task.outcome === 'superseded',
  }));
  const overall = worst(verdicts);
  const telling = verdicts.find(
    (v) => v.conclusion === overall && (!v.superseded || overall === 'cancelled'),
  );
  return plainLine((telling ?? verdicts[0])?.headline ?? '', maxTitle);
}

function renderParts(
  sections: readonly Section[],
  render: (section: Section, max: number) => string,
): string {
  const [only, ...others] = sections;
  if (only !== undefined && others.length === 0) return render(only, maxSummary);
  // Every section keeps room for what matters; a head with more pull requests than that has its rest counted.
  const share = Math.floor(maxSummary / Math.min(sections.length, 8)) - 200;
  return fitItems({
    before: '',
    items: sections.flatMap((section) => {
      const part = render(section, share - 100);
      return part === '' ? [] : [`## Pull request #${section.view.task.number}\n\n${part}`];
    }),
    after: '',
    gap: '\n\n',
    max: maxSummary,
    more: (left) => `And ${plural(left, 'more pull request')} with this head.`,
  }).text;
}

/** The annotations of all sections with their ids, each finding once, at most {@link maxAnnotations}. */
export function renderAnnotations(sections: readonly Section[]): Map<string, Annotation> {
  const annotations = new Map<string, Annotation>();
  for (const { view } of sections) {
    if (view.task.outcome === null) continue;
    for (const finding of mergedFindings(view.findings)) {
      const print = fingerprint(finding);
      const annotation = annotationOf(finding, print);
      if (annotation !== null && annotations.size < maxAnnotations)
        annotations.set(print.slice(0, 16), annotation);
    }
  }
  return annotations;
}

function annotationNote({ view }: Section): string {
  if (view.task.outcome === null) return '';
  const findings = mergedFindings(view.findings).filter((finding) => finding.side === 'RIGHT').length;
  if (findings <= maxAnnotations) return '';
  return `\n\nThe first ${maxAnnotations} of ${findings} findings are annotated.`;
}
