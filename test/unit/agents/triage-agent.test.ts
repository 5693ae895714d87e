import { describe, expect, it } from 'vitest';
import { checkTriage } from '../../../src/agents/triage-agent.ts';

const given = {
  labels: [
    { name: 'bug', description: 'Something is wrong' },
    { name: 'Good First Issue', description: '' },
  ],
  others: [{ number: 7, title: 'a', excerpt: '' }],
};
const triage = { labels: [], duplicates: [], question: null, summary: 's' };

describe('what a triager reports', () => {
  it('is taken with each label once, in the spelling of the repository', () => {
    const reported = {
      labels: ['BUG', 'good first issue', 'bug'],
      duplicates: [7, 7],
      question: ' \n',
      summary: ' It crashes. ',
    };
    expect(checkTriage(reported, given)).toEqual({
      triage: {
        labels: ['bug', 'Good First Issue'],
        duplicates: [7],
        question: null,
        summary: 'It crashes.',
      },
    });
  });

  it.each([
    [
      'a label of its own',
      { labels: ['bug', 'urgent'] },
      ['there are no labels "urgent"; there are: "bug", "Good First Issue"'],
    ],
    ['an issue that it was not given', { duplicates: [7, 8] }, ['not among the other open issues given: #8']],
    [
      'both',
      { labels: ['x'], duplicates: [1] },
      [expect.stringContaining('no labels "x"'), expect.stringContaining('#1')],
    ],
  ])('is refused with %s', (_, over, faults) => {
    expect(checkTriage({ ...triage, ...over }, given)).toEqual({ faults });
  });
});
