import { describe, expect, it } from 'vitest';
import { judge } from '../demo/judge.ts';
import { runDemo } from '../demo/run-demo.ts';

describe('the review of a pull request', () => {
  it('runs in parallel, finds every planted fault and leaves one check run, one review and nothing else', async ({
    signal,
  }) => {
    const lines: string[] = [];
    const facts = await runDemo({
      model: null,
      signal,
      say: () => {},
      lines: { update: (states) => lines.push(...states.map(({ state }) => state)) },
    });
    expect(judge(facts)).toEqual([]);
    expect(facts.figures).toMatchObject({
      checkRuns: 1,
      reviews: 1,
      conclusion: 'failure',
      annotations: facts.planted.length,
      inlineComments: facts.planted.length,
      bodyFindings: 0,
    });
    expect(new Set(lines)).toEqual(
      new Set(['waiting', 'starting', 'reviewing', 'done']).intersection(new Set(lines)),
    );
    expect(facts.checkRun.summary).toContain('| packages/orders 1/2 (4 files) | reviewer | done | 2 |');
  });
});
