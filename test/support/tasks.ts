import { repositoryConfigSchema } from '../../src/config/repository-config.ts';
import type { Finding } from '../../src/domain/finding.ts';
import type { Plan, PlannedRow } from '../../src/domain/matrix.ts';
import type { NewTask } from '../../src/store/port/tasks.ts';

/** Rows for tests of the store and of what stands on it. */

export function newTask(change: Partial<NewTask> = {}): NewTask {
  const headSha = change.headSha ?? 'a'.repeat(40);
  return {
    kind: 'review',
    key: `review:7:1:${headSha}`,
    installationId: 5,
    repositoryId: 7,
    owner: 'octo',
    repo: 'sample',
    number: 1,
    headSha,
    baseSha: 'b'.repeat(40),
    baseRef: 'main',
    title: 'A change',
    body: '',
    trigger: { kind: 'pull_request', name: 'opened', actor: 'mona', deliveryId: 'd1', commentId: null },
    config: repositoryConfigSchema.parse({}),
    priority: 20,
    failure: null,
    ...change,
  };
}

export function newRow(title: string, change: Partial<PlannedRow> = {}): PlannedRow {
  const path = `${title}.js`;
  return {
    title,
    agent: 'reviewer',
    matrix: {
      goal: 'review',
      background: '',
      inputs: [path],
      writes: [path],
      output: 'findings',
      constraints: [],
      verification: 'quotes exist',
      limits: { wallMs: 60_000, idleMs: 10_000, turns: 10, tokens: 10_000 },
    },
    dependsOn: [],
    complexity: 1,
    ...change,
  };
}

export function newPlan(...rows: PlannedRow[]): Plan {
  return { contract: 'the contract', rows };
}

export const planFacts = { mergeBase: 'b'.repeat(40), skipped: [], filesChanged: 1 };

export function newFinding(change: Partial<Finding> = {}): Finding {
  return {
    path: 'a.js',
    side: 'RIGHT',
    startLine: 1,
    endLine: 1,
    severity: 'error',
    confidence: 1,
    rule: 'no-eval',
    title: 'eval is used',
    body: 'It runs what it is given.',
    quote: 'eval(x)',
    replacement: null,
    ...change,
  };
}
