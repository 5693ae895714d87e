import { describe, expect, it } from 'vitest';
import { type Severity, severities } from '../../../src/domain/finding.ts';
import { subtaskStatuses, taskOutcomes } from '../../../src/domain/task.ts';
import { conclude, type FailOn, worst } from '../../../src/publishing/conclude.ts';
import { finding, subtaskRow, viewOf } from './view.ts';

const failure = { code: 'model_unavailable', detail: '500' } as const;
const failOns: readonly FailOn[] = ['error', 'warning', 'note', 'never'];

describe('conclude', () => {
  it('is success only when the task succeeded, every shard did, and no finding is grave', () => {
    const lists = [[], ...subtaskStatuses.map((a) => [a]), ...pairs(subtaskStatuses)];
    for (const outcome of taskOutcomes) {
      for (const taskFailure of [null, failure, { code: 'config_invalid', detail: '' } as const]) {
        for (const statuses of lists) {
          for (const severity of [null, ...severities]) {
            for (const failOn of failOns) {
              const findings = severity === null ? [] : [finding(1, { severity })];
              const subtasks = statuses.map((status, row) => subtaskRow(row, { status }));
              const task = { outcome, failure: taskFailure, filesChanged: statuses.length };
              const { conclusion } = conclude(viewOf({ task, subtasks, findings }), failOn);
              const allWell =
                outcome === 'succeeded' &&
                taskFailure === null &&
                statuses.every((status) => status === 'succeeded') &&
                // Without shards there are no findings.
                (severity === null || statuses.length === 0 || !grave(severity, failOn));
              const cancelled = outcome === 'cancelled' || outcome === 'superseded';
              const where = JSON.stringify({ outcome, taskFailure, statuses, severity, failOn });
              expect(conclusion === 'success', where).toBe(allWell);
              expect(conclusion === 'cancelled', where).toBe(cancelled);
              if (taskFailure?.code === 'config_invalid' && !cancelled) {
                expect(conclusion, where).toBe('action_required');
              } else if (!allWell && !cancelled) expect(conclusion, where).toBe('failure');
            }
          }
        }
      }
    }
  });

  it.each([
    ['planning', 'Planning the review'],
    ['running', 'Reviewing: 1 of 2 shards done'],
  ] as const)('has no conclusion while %s', (phase, headline) => {
    const subtasks = [subtaskRow(0), subtaskRow(1, { status: 'running' })];
    expect(conclude(viewOf({ task: { phase, outcome: null }, subtasks }), 'error')).toEqual({
      conclusion: null,
      headline,
    });
  });

  it.each([
    [{ filesChanged: 0, skipped: [] }, 'success', 'No files changed'],
    [
      { filesChanged: 1, skipped: [{ path: 'a.png', reason: 'binary' }] },
      'success',
      'Nothing to review: all files were skipped',
    ],
    [{ filesChanged: 2, skipped: [] }, 'action_required', 'No agent is configured for the changed files'],
    [{ filesChanged: 0, outcome: 'failed' as const }, 'failure', 'The review failed'],
  ])('without shards: %j', (task, conclusion, headline) => {
    expect(conclude(viewOf({ task, subtasks: [] }), 'error')).toEqual({ conclusion, headline });
  });
});

describe('worst', () => {
  const verdict = (conclusion: ReturnType<typeof conclude>['conclusion'], superseded = false) => ({
    conclusion,
    headline: '',
    superseded,
  });
  it.each([
    [[verdict('success'), verdict('success')], 'success'],
    [[verdict('success'), verdict('failure')], 'failure'],
    [[verdict('action_required'), verdict('failure')], 'failure'],
    [[verdict('success'), verdict('cancelled')], 'cancelled'],
    [[verdict('success'), verdict(null)], null],
    [[verdict('success'), verdict('cancelled', true)], 'success'],
    [[verdict('cancelled', true)], 'cancelled'],
    [[], null],
  ])('of %j is %s', (verdicts, expected) => {
    expect(worst(verdicts)).toBe(expected);
  });
});

function pairs<T>(list: readonly T[]): T[][] {
  return list.flatMap((a) => list.map((b) => [a, b]));
}

function grave(severity: Severity, failOn: FailOn): boolean {
  const grades = {
    error: ['error'],
    warning: ['error', 'warning'],
    note: ['error', 'warning', 'note'],
    never: [],
  };
  return (grades[failOn] as readonly Severity[]).includes(severity);
}
