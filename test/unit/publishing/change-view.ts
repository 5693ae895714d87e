import type { Candidate } from '../../../src/domain/candidate.ts';
import type { TaskView } from '../../../src/store/port/views.ts';
import type { PatchRow, Subtask, Task } from '../../../src/store/port.ts';
import { subtaskRow, taskRow } from './view.ts';

/** Rows of a change, as the store gives them. */

const taskId = '11111111-1111-4111-8111-111111111111';
const sha = (digit: string) => digit.repeat(40);

export const noVerdict = { passed: true, newFailures: [], knownFailures: [], flaky: [] };

export function patchRow(row: number, paths: readonly string[]): PatchRow {
  return {
    subtaskId: subtaskRow(row).id,
    taskId,
    baseCommit: sha('a'),
    tree: sha('b'),
    commit: sha('c'),
    entries: paths.map((path) => ({
      path,
      file: { mode: '100644', blob: sha('d'), bytes: 3 },
      before: { mode: '100644', blob: sha('e') },
    })),
    digest: 'f'.repeat(64),
    verdict: noVerdict,
  };
}

export function candidateOf(more: Partial<Candidate> = {}): Candidate {
  return {
    targetSha: sha('a'),
    commit: sha('1'),
    tree: sha('2'),
    merged: [],
    leftOut: [],
    verdict: noVerdict,
    checks: ['npm test'],
    verifications: 1,
    ...more,
  };
}

export function leftOut(row: number, code: string, reason: string): Candidate['leftOut'][number] {
  return { subtaskId: subtaskRow(row).id, row, code, reason, against: null };
}

/** Rows of agents first, then one integrating row for each candidate, of that issue. */
export function changeView(parts: {
  task?: Partial<Task>;
  agents: readonly Partial<Subtask>[];
  patches?: readonly PatchRow[];
  candidates?: readonly { candidate: Candidate | null; issue?: number; rounds?: number }[];
}): TaskView {
  const agents = parts.agents.map((more, row) => subtaskRow(row, { agent: 'fixer', ...more }));
  const integrations = (parts.candidates ?? []).map(({ candidate, issue = null }, index) =>
    subtaskRow(agents.length + index, {
      kind: 'integrate',
      waitsFor: 'end',
      agent: '',
      issue: issue ?? null,
      status: candidate === null ? 'waiting' : 'succeeded',
    }),
  );
  const candidates = (parts.candidates ?? []).flatMap(({ candidate, rounds = 1 }, index) =>
    candidate === null
      ? []
      : [
          {
            subtaskId: integrations[index]?.id ?? '',
            taskId,
            candidate,
            rounds,
            createdAt: new Date(1_700_000_000_000),
          },
        ],
  );
  return {
    task: taskRow({
      kind: 'fix',
      subject: 'issue',
      targetRef: 'main',
      instruction: 'move the strings',
      ...parts.task,
    }),
    subtasks: [...agents, ...integrations],
    attempts: [],
    findings: [],
    patches: parts.patches ?? [],
    candidates,
    triages: [],
    spend: { calls: 3, tokens: 1200, costMicros: 0 },
  };
}
