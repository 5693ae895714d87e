import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/domain/failure.ts';
import { readIntegrations } from '../../../src/publishing/change.ts';
import { conclude } from '../../../src/publishing/conclude.ts';
import { renderProgress, renderSettled } from '../../../src/publishing/render-change.ts';
import { history } from '../../../src/publishing/render-history.ts';
import { pullBody } from '../../../src/publishing/render-pull.ts';
import { renderSummary } from '../../../src/publishing/render-section.ts';
import type { Attempt } from '../../../src/store/port.ts';
import { candidateOf, changeView, leftOut, patchRow } from './change-view.ts';
import { subtaskRow, viewOf } from './view.ts';

const id = (row: number) => subtaskRow(row).id;

function attempt(row: number, status: Attempt['status'], failure: Failure | null = null): Attempt {
  return {
    id: `44444444-4444-4444-8444-${String(row).padStart(12, '0')}`,
    taskId: subtaskRow(0).taskId,
    subtaskId: id(row),
    number: 1,
    epoch: 1,
    status,
    worker: 'w',
    containerId: null,
    failure,
    turns: 1,
    requested: [],
    queuedAt: new Date(0),
    claimedAt: null,
    heartbeatAt: null,
    agentStartedAt: null,
    finishedAt: null,
  };
}

const timeout = { code: 'model_timeout', detail: 'slow' } as const;
const tooBig = { code: 'context_exceeded', detail: '300k' } as const;

describe('what happened on the way', () => {
  it('names the checks that a row ran again for, not only that there were some', () => {
    const feedback = 'new failures:\ntest:add adds\ntest:add takes\n';
    const view = {
      subtasks: [subtaskRow(0, { title: 'the sum', verificationReruns: 1, feedback })],
      attempts: [],
      patches: [],
    };
    expect(history(view, '### On the way', 5000)).toBe(
      '### On the way\n\n- **the sum**: run again once, since the checks failed with it (new failures: test:add adds, test:add takes).',
    );
  });

  it('says of a row that it ran out of memory, and what it has now', () => {
    const ranOut = { code: 'memory_exhausted', detail: 'all of it' } as const;
    const view = {
      subtasks: [subtaskRow(0, { title: 'the tests', memoryMib: 4096 })],
      attempts: [attempt(0, 'failed', ranOut), attempt(0, 'failed', timeout), attempt(0, 'failed', ranOut)],
      patches: [],
    };
    expect(history(view, '### On the way', 5000)).toBe(
      '### On the way\n\n- **the tests**: ran out of memory twice, and has been given 4096 MiB; tried again once (`model_timeout`).',
    );
  });

  it('names for each row into what it was cut, how often it ran again and why', () => {
    const view = {
      subtasks: [
        subtaskRow(0, { title: 'the API', status: 'split' }),
        subtaskRow(1, { title: 'the UI', verificationReruns: 1, feedback: '\nred: @mona fixes #3\nmore' }),
        subtaskRow(2, {
          title: 'docs',
          verificationReruns: 1,
          conflictReruns: 2,
          base: 'abcdef0123456789',
          feedback: 'with row 2',
        }),
        subtaskRow(3, { title: 'quiet' }),
        subtaskRow(4, { title: 'flaky', status: 'failed', failure: timeout }),
        subtaskRow(5, { title: 'the API (part 1/2)', parent: id(0), depth: 1 }),
        subtaskRow(6, { title: 'the API (part 2/2)', parent: id(0), depth: 1 }),
        subtaskRow(7, { title: 'known' }),
      ],
      attempts: [
        attempt(0, 'failed', tooBig),
        ...[1, 2, 3].map(() => attempt(4, 'failed', timeout)),
        attempt(4, 'failed', { code: 'verification_failed', detail: '' }),
        attempt(6, 'lost'),
        attempt(6, 'lost'),
        attempt(6, 'lost'),
        { ...attempt(7, 'succeeded'), turns: 0 },
        { ...attempt(3, 'succeeded'), turns: 0 },
      ],
      patches: [patchRow(7, ['a.ts']), patchRow(4, ['b.ts'])],
    };
    expect(history(view, '**On the way**', 5000)).toBe(
      [
        '**On the way**',
        '',
        '- **the API**: cut into *the API (part 1/2)* and *the API (part 2/2)* (`context_exceeded`: the shard does not fit the context of the model).',
        '- **the UI**: run again once, since the checks failed with it (red: @\u200bmona fixes\u200b #\u200b3).',
        '- **docs**: run again once, since the checks failed with it; run again twice, since it was in conflict with other work (with row 2), on the new base `abcdef012345`.',
        '- **flaky**: tried again 3 times (`model_timeout`).',
        '- **the API (part 2/2)**: its worker died 3 times, and another took over.',
        '- **known**: taken from the verified result of an earlier run of the same work.',
      ].join('\n'),
    );
    expect(history({ subtasks: [subtaskRow(0)], attempts: [], patches: [] }, 'x', 100)).toBe('');
  });

  it('fits where there is little room', () => {
    const subtasks = Array.from({ length: 200 }, (_, row) => subtaskRow(row, { conflictReruns: 1 }));
    const text = history({ subtasks, attempts: [], patches: [] }, '### On the way', 1000);
    expect(text.length).toBeLessThanOrEqual(1000);
    expect(text).toMatch(/\n- and \d+ more rows$/);
  });
});

describe('a row that was cut into smaller ones', () => {
  const rows = [
    subtaskRow(0, { status: 'split' }),
    subtaskRow(1, { parent: id(0), matrix: { ...subtaskRow(0).matrix, inputs: ['src/file-0.ts'] } }),
    subtaskRow(2, { parent: id(0) }),
  ];

  it('is no failure of a review: its parts count', () => {
    const view = viewOf({ subtasks: rows });
    expect(conclude(view, 'error')).toEqual({ conclusion: 'success', headline: 'No findings' });
    const text = renderSummary({ view, review: null }, 10_000);
    expect(text).toContain('**src (shard 0)**: cut into *src (shard 1)* and *src (shard 2)*.');
    expect(text).toContain('2 reviewed');
    expect(text).not.toContain('not reviewed');
    const failed = viewOf({
      subtasks: [...rows.slice(0, 2), subtaskRow(2, { parent: id(0), status: 'failed' })],
    });
    expect(conclude(failed, 'error').headline).toBe('1 of 2 shards failed');
  });

  it('is no subtask of a change: its parts count', () => {
    const view = changeView({
      task: { serialReason: 'its rows depend on one another' },
      agents: [
        { title: 'all', status: 'split' },
        { title: 'one', parent: id(0), summary: 'done' },
        { title: 'two', parent: id(0) },
      ],
      patches: [patchRow(1, ['a.ts']), patchRow(2, ['b.ts'])],
      candidates: [
        { candidate: candidateOf({ merged: [1], leftOut: [leftOut(2, 'conflict', 'with one')] }) },
      ],
    });
    const [integration] = readIntegrations(view);
    expect(integration?.rows.map(({ subtask, state }) => [subtask.title, state])).toEqual([
      ['one', 'merged'],
      ['two', 'left_out'],
    ]);
    if (integration === undefined) throw new Error('no integration');
    const pull = { kind: 'pull', number: 5, url: 'u', branch: 'b', note: '' } as const;
    const settled = renderSettled(view, [{ integration, outcome: pull }]);
    const why = 'Runs as one subtask: its rows depend on one another.';
    const cut = '- **all**: cut into *one* and *two*.';
    const leftTwo = '- **two** (`conflict`): with one. Ask again: the next run starts from the new base.';
    for (const part of ['1 of 2 subtasks merged', why, cut, leftTwo]) expect(settled).toContain(part);
    const body = pullBody(view, integration, 'pull:x');
    for (const part of [why, `### On the way\n\n${cut}`, leftTwo]) expect(body).toContain(part);
    const open = { ...view, task: { ...view.task, phase: 'running' as const, outcome: null } };
    for (const part of [why, cut]) expect(renderProgress(open)).toContain(part);
  });
});

it('a row that failed says what to do about it; one that was skipped says by whom', () => {
  const skipped = { code: 'model_timeout', detail: 'row 1, which it depends on, did not succeed' } as const;
  const view = changeView({
    agents: [
      { title: 'a', status: 'failed', failure: timeout },
      { title: 'b', status: 'skipped', failure: skipped },
    ],
  });
  const text = renderSettled(view, []);
  expect(text).toContain(
    '- **a** (`model_timeout`): The model did not answer in time. slow. Comment `/patchfleet review` to try again, or raise `limits.model_call_seconds`.',
  );
  expect(text).toContain(
    '- **b** (`model_timeout`): not run, since row 1, which it depends on, did not succeed.',
  );
});
