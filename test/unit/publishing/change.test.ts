import { describe, expect, it } from 'vitest';
import { issueState } from '../../../src/publishing/batch-issue.ts';
import { fixedIssues, readIntegrations, readRows } from '../../../src/publishing/change.ts';
import { candidateOf, changeView, leftOut, patchRow } from './change-view.ts';

const failed = { status: 'failed', failure: { code: 'turns_exhausted', detail: 'no end' } } as const;

describe('the rows of a change', () => {
  it('tell what became of each', () => {
    const view = changeView({
      agents: [{}, {}, {}, failed, {}, { status: 'running' }],
      patches: [patchRow(0, ['a']), patchRow(1, ['b']), patchRow(4, ['c'])],
      candidates: [
        { candidate: candidateOf({ merged: [0], leftOut: [leftOut(1, 'conflict', 'with main in b')] }) },
      ],
    });
    expect(readRows(view).map(({ state, code, reason }) => [state, code, reason])).toEqual([
      ['merged', null, ''],
      ['left_out', 'conflict', 'with main in b'],
      ['nothing', null, ''],
      ['failed', 'turns_exhausted', 'no end'],
      // The target has it already.
      ['nothing', null, ''],
      ['open', null, ''],
    ]);
  });

  it('are withheld where all or nothing was wanted', () => {
    const view = changeView({
      agents: [{}, {}],
      patches: [patchRow(0, ['a']), patchRow(1, ['b'])],
      candidates: [
        {
          candidate: candidateOf({ commit: null, tree: null, leftOut: [leftOut(1, 'verification', 'red')] }),
        },
      ],
    });
    expect(readRows(view).map(({ state }) => state)).toEqual(['withheld', 'left_out']);
  });

  it('know no candidate while integrating runs again', () => {
    const view = changeView({
      agents: [{}],
      candidates: [{ candidate: candidateOf({ merged: [0] }), rounds: 2 }],
    });
    const again = {
      ...view,
      subtasks: view.subtasks.map((row) =>
        row.kind === 'integrate' ? { ...row, status: 'waiting' as const } : row,
      ),
    };
    expect(readIntegrations(again).map(({ candidate, rounds }) => [candidate, rounds])).toEqual([[null, 2]]);
  });
});

const issues = [3, 5].map((number) => ({ number, title: `Issue ${number}`, body: '' }));

describe('the issues a pull request fixes', () => {
  it.each([
    ['all merged', [], [0, 1], [3, 5]],
    ['one left out', [leftOut(1, 'conflict', '')], [0], [3]],
    ['none merged', [leftOut(0, 'conflict', ''), leftOut(1, 'conflict', '')], [], []],
  ])('are those of which all was merged: %s', (_, out, merged, expected) => {
    const view = changeView({
      task: { kind: 'batch', number: 3, issues },
      agents: [{ issue: 3 }, { issue: 5 }],
      patches: [patchRow(0, ['a']), patchRow(1, ['b'])],
      candidates: [{ candidate: candidateOf({ merged, leftOut: out }) }],
    });
    const [integration] = readIntegrations(view);
    expect(integration && fixedIssues(view.task, integration)).toEqual(expected);
  });

  it('are none for a pull request', () => {
    const view = changeView({
      task: { subject: 'pull_request' },
      agents: [{}],
      candidates: [{ candidate: candidateOf({ merged: [0] }) }],
    });
    const [integration] = readIntegrations(view);
    expect(integration && fixedIssues(view.task, integration)).toEqual([]);
  });
});

describe('the state of an issue of a batch', () => {
  const pull = { kind: 'pull', number: 9, url: 'u', branch: 'b', note: '' } as const;
  const refused = { kind: 'refused', failure: { code: 'target_moving', detail: '' } } as const;
  it.each([
    ['merged, with its pull request', { merged: [0, 1] }, pull, ['done', 'done']],
    ['merged, but nothing could be published', { merged: [0, 1] }, refused, ['failed', 'failed']],
    ['one left out', { merged: [0], leftOut: [leftOut(1, 'conflict', '')] }, pull, ['done', 'failed']],
  ])('%s', (_, candidate, outcome, expected) => {
    const view = changeView({
      task: { kind: 'batch', number: 3, issues },
      agents: [{ issue: 3 }, { issue: 5 }],
      patches: [patchRow(0, ['a']), patchRow(1, ['b'])],
      candidates: [{ candidate: candidateOf(candidate) }],
    });
    const published = readIntegrations(view).map((integration) => ({ integration, outcome }));
    expect(issues.map(({ number }) => issueState(view, published, number))).toEqual(expected);
  });

  it('is done where the agent found nothing to change, and failed where nothing was planned', () => {
    const view = changeView({
      task: { kind: 'batch', number: 3, issues },
      agents: [{ issue: 3, summary: 'It is right already.' }],
      candidates: [{ candidate: candidateOf({ commit: null, tree: null }) }],
    });
    const published = readIntegrations(view).map((integration) => ({
      integration,
      outcome: { kind: 'none' as const },
    }));
    expect(issues.map(({ number }) => issueState(view, published, number))).toEqual(['done', 'failed']);
  });
});
