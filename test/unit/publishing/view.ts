import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { FileChange } from '../../../src/domain/change.ts';
import { type Finding, fingerprint } from '../../../src/domain/finding.ts';
import type { TaskView } from '../../../src/store/port/views.ts';
import type { FindingRow, Subtask, Task } from '../../../src/store/port.ts';

/** Rows as the store gives them, for the pure parts of publishing. */

const at = (second: number) => new Date(1_700_000_000_000 + second * 1000);

export function taskRow(more: Partial<Task> = {}): Task {
  return {
    id: '11111111-1111-4111-8111-111111111111',
    kind: 'review',
    key: 'review:1:7:abc',
    phase: 'publishing',
    outcome: 'succeeded',
    failure: null,
    installationId: 1,
    repositoryId: 2,
    owner: 'octo',
    repo: 'shop',
    subject: 'pull_request',
    number: 7,
    headSha: 'a'.repeat(40),
    baseSha: 'b'.repeat(40),
    baseRef: 'main',
    title: 'A change',
    body: '',
    instruction: '',
    issues: [],
    targetRef: '',
    fork: false,
    startAfter: null,
    trigger: { kind: 'pull_request', name: 'opened', actor: 'mona', deliveryId: 'd', commentId: null },
    config: repositoryConfigSchema.parse({}),
    priority: 20,
    contract: '',
    mergeBase: 'c'.repeat(40),
    skipped: [],
    filesChanged: 1,
    planAttempts: 1,
    serialReason: '',
    planOnly: false,
    retriesUsed: 0,
    publishTries: 0,
    publishAfter: null,
    createdAt: at(0),
    plannedAt: at(1),
    settledAt: at(9),
    finishedAt: null,
    updatedAt: at(9),
    ...more,
  };
}

export function subtaskRow(row: number, more: Partial<Subtask> = {}): Subtask {
  return {
    id: `22222222-2222-4222-8222-${String(row).padStart(12, '0')}`,
    taskId: '11111111-1111-4111-8111-111111111111',
    row,
    kind: 'agent',
    waitsFor: 'success',
    issue: null,
    title: `src (shard ${row})`,
    agent: 'linter',
    matrix: {
      goal: '',
      background: '',
      inputs: [`src/file-${row}.ts`],
      writes: [],
      output: '',
      constraints: [],
      verification: '',
      limits: { wallMs: 1, idleMs: 1, turns: 1, tokens: 1 },
    },
    complexity: 1,
    path: 1,
    weight: 1,
    fallbacks: [],
    depth: 0,
    parent: null,
    verificationReruns: 0,
    conflictReruns: 0,
    base: null,
    memoryMib: null,
    feedback: '',
    status: 'succeeded',
    unmet: 0,
    failures: 0,
    deaths: 0,
    failure: null,
    summary: '',
    refused: 0,
    notBefore: null,
    startedAt: at(1),
    finishedAt: at(3),
    ...more,
  };
}

export function finding(line: number, more: Partial<Finding> = {}): Finding {
  return {
    path: 'src/a.ts',
    side: 'RIGHT',
    startLine: line,
    endLine: line,
    severity: 'warning',
    confidence: 1,
    rule: `rule-${line}`,
    title: `Problem at ${line}`,
    body: 'It is wrong.',
    quote: `line ${line}`,
    replacement: null,
    ...more,
  };
}

export function viewOf(parts: {
  task?: Partial<Task>;
  subtasks?: readonly Subtask[];
  findings?: readonly Finding[];
}): TaskView {
  const subtasks = parts.subtasks ?? [subtaskRow(0)];
  const findings = (parts.findings ?? []).map(
    (one, position): FindingRow => ({
      ...one,
      id: `33333333-3333-4333-8333-${String(position).padStart(12, '0')}`,
      taskId: '11111111-1111-4111-8111-111111111111',
      subtaskId: subtasks[0]?.id ?? '',
      position,
      agent: 'linter',
      fingerprint: fingerprint(one),
      createdAt: at(2),
    }),
  );
  const spend = { calls: 0, tokens: 0, costMicros: 0 };
  return {
    task: taskRow(parts.task),
    subtasks,
    attempts: [],
    findings,
    patches: [],
    candidates: [],
    triages: [],
    spend,
  };
}

/** A file of that many added lines. */
export function addedFile(path: string, lines: number): FileChange {
  return {
    path,
    oldPath: null,
    status: 'added',
    oldMode: '000000',
    newMode: '100644',
    oldBlob: '0'.repeat(40),
    newBlob: '1'.repeat(40),
    binary: false,
    additions: lines,
    deletions: 0,
    hunks: [
      {
        oldStart: 0,
        oldLines: 0,
        newStart: 1,
        newLines: lines,
        lines: Array.from({ length: lines }, (_, index) => ({
          kind: 'added',
          text: `line ${index + 1}`,
          oldLine: null,
          newLine: index + 1,
        })),
      },
    ],
  };
}
