import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../../src/config/agent-config.ts';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import type { Mirror } from '../../../src/github/port.ts';
import { type ChangeRequest, createChangePlanner } from '../../../src/planning/plan-change.ts';
import { limits } from './fix-facts.ts';

const model = agentSchema.parse({ name: 'coder', kind: 'model' });
const other = agentSchema.parse({ name: 'other', kind: 'model' });
const linter = agentSchema.parse({ name: 'lint', kind: 'command', command: ['lint'], format: 'lines' });
const issue = { kind: 'issue', number: 8, title: 'It fails', body: '```\nSee <this>' } as const;
const { signal } = new AbortController();

function request(over: Partial<ChangeRequest> = {}): ChangeRequest {
  return {
    id: 'task-1',
    kind: 'fix',
    repository: { installationId: 1, id: 2, owner: 'o', name: 'r' },
    subject: issue,
    headSha: 'head',
    baseSha: 'base',
    targetRef: 'main',
    instruction: 'mend it',
    issues: [],
    config: repositoryConfigSchema.parse({}),
    agents: [linter, model, other],
    limits,
    ...over,
  };
}

/** A mirror that can bring every commit in. */
function setting() {
  const calls: unknown[][] = [];
  const mirror: Partial<Mirror> = {
    fetchCommit: async (commit, branch) => void calls.push(['commit', commit, branch]),
    fetchPullRequest: async (number, head, base) => void calls.push(['pull', number, head, base]),
    listTree: async () => ['a.ts'],
  };
  const planner = createChangePlanner({
    mirrors: { open: async () => mirror as Mirror },
    plannerAgentFor: () => null,
    protectionBy: () => () => null,
    checksOf: async () => [],
    log: { warn: () => {} },
  });
  return { planner, calls };
}

describe('planning of what changes files', () => {
  it('reads the commit and gives the shape of a review plan', async () => {
    const { planner, calls } = setting();
    const result = await planner.plan(request(), signal);
    expect(result).toEqual({
      plan: { contract: expect.any(String), rows: expect.any(Array) },
      tree: { files: 1, packages: 0 },
      skipped: [],
      mergeBase: 'head',
      coverage: { changedFiles: 0, reviewedFiles: 0, skippedFiles: 0, additions: 0, deletions: 0 },
      filesRead: 1,
    });
    expect(result.plan.rows.map((row) => [row.title, row.agent])).toEqual([
      ['the whole repository', 'coder'],
      ['merge and verify', ''],
    ]);
    expect(calls).toEqual([['commit', 'head', 'main']]);
  });

  it('fetches a pull request by its commits', async () => {
    const pull = setting();
    await pull.planner.plan(request({ subject: { ...issue, kind: 'pull_request' } }), signal);
    expect(pull.calls).toEqual([['pull', 8, 'head', 'base']]);
  });

  it.each([
    ['a batch has no issues', setting(), request({ kind: 'batch' }), 'plan_invalid', /no issues/],
    ['no model is configured', setting(), request({ agents: [linter] }), 'config_invalid', /no model agent/],
    [
      'fix.agents names none',
      setting(),
      request({ config: repositoryConfigSchema.parse({ fix: { agents: ['lint'] } }) }),
      'config_invalid',
      /no model agent `lint`; valid: `coder`, `other`/,
    ],
  ])('fails when %s', async (_, { planner }, asked, code, message) => {
    const failure = planner.plan(asked, signal);
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.toMatchObject({ code });
  });

  it('lets the agent write that the repository names', async () => {
    const config = repositoryConfigSchema.parse({ fix: { agents: ['other'] } });
    const { plan } = await setting().planner.plan(request({ config }), signal);
    expect(plan.rows[0]?.agent).toBe('other');
  });

  it('triages with one row that writes nothing, without reading the repository', async () => {
    const { planner, calls } = setting();
    const { plan } = await planner.plan(request({ kind: 'triage', targetRef: '' }), signal);
    expect(plan.rows).toEqual([
      expect.objectContaining({ title: 'triage of #8', agent: 'coder', issue: 8, dependsOn: [] }),
    ]);
    expect(plan.rows[0]?.matrix).toMatchObject({
      writes: [],
      background: expect.stringContaining('````text\nTitle: It fails\n\n```\nSee <this>\n````'),
    });
    expect(calls).toEqual([]);
  });
});
