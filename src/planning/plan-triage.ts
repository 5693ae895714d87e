import type { Limits } from '../config/operator-config.ts';
import type { Plan } from '../domain/matrix.ts';
import { rowLimits } from './fix-rows.ts';
import { quoteSubject, type SubjectText } from './quote-subject.ts';

/** The one row of a triage. It reads, and writes nothing. */
export function planTriage(facts: { subject: SubjectText; agent: string; limits: Limits }): Plan {
  const { subject, agent, limits } = facts;
  return {
    contract: '',
    rows: [
      {
        title: `triage of #${subject.number}`,
        agent,
        kind: 'agent',
        waitsFor: 'success',
        issue: subject.number,
        matrix: {
          goal: `Sort issue #${subject.number}: labels, duplicates, and what is missing.`,
          background: quoteSubject(subject),
          inputs: [],
          writes: [],
          output:
            'Labels of the given list, duplicates among the given issues, at most one question, a summary.',
          constraints: [
            'Nothing is written, closed, assigned or promised.',
            'A label is set only where what it says is true of this issue.',
          ],
          verification: 'Labels and duplicates are held against the lists.',
          limits: rowLimits(limits),
        },
        dependsOn: [],
        complexity: 1,
      },
    ],
  };
}
