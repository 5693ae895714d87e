import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { handledEvents, readTrigger, reviewActions } from '../../../src/intake/triggers.ts';
import { webhookExamples } from '../../support/webhook-examples.ts';

const self = { id: 42 };
const repository = { id: 7, name: 'sample', owner: { login: 'octo' } };
const mona = { login: 'mona', type: 'User' };
const common = { installation: { id: 5 }, repository, sender: mona };
const ref = { installationId: 5, id: 7, owner: 'octo', name: 'sample' };

const pull = (action: string, change: object = {}) => ({
  action,
  ...common,
  pull_request: { number: 3 },
  ...change,
});
const comment = (body: string, change: object = {}, more: object = {}) => ({
  action: 'created',
  ...common,
  issue: { number: 3, title: 'Broken', body: 'a\0b', pull_request: {} },
  comment: { id: 9, body, user: mona, performed_via_github_app: null, ...change },
  ...more,
});

describe('triggers', () => {
  it.each(reviewActions)('the pull request event %s asks for a review', (action) => {
    expect(readTrigger('pull_request', pull(action), self)).toEqual({
      kind: 'pull_request',
      action,
      repository: ref,
      pull: 3,
      actor: 'mona',
    });
  });

  it('the closing of a pull request or an issue ends what is open for it, whoever closed it', () => {
    const bot = { login: 'queue[bot]', type: 'Bot' };
    const closed = { kind: 'closed', repository: ref, number: 3, actor: 'queue[bot]' };
    expect(readTrigger('pull_request', pull('closed', { sender: bot }), self)).toEqual({
      ...closed,
      isPull: true,
    });
    const issue = { action: 'closed', ...common, sender: bot, issue: { number: 3 } };
    expect(readTrigger('issues', issue, self)).toEqual({ ...closed, isPull: false });
  });

  it('a comment with commands asks for them, on pull requests and issues', () => {
    const expected = {
      kind: 'commands',
      commands: [{ verb: 'review', args: '' }],
      repository: ref,
      issue: 3,
      isPull: true,
      words: { title: 'Broken', body: 'a\uFFFDb' },
      commentId: 9,
      actor: 'mona',
      actorType: 'User',
    };
    expect(readTrigger('issue_comment', comment('/patchfleet review'), self)).toEqual(expected);
    const onIssue = comment('/patchfleet review', {}, { issue: { number: 3, title: 'Broken', body: null } });
    expect(readTrigger('issue_comment', onIssue, self)).toEqual({
      ...expected,
      isPull: false,
      words: { title: 'Broken', body: '' },
    });
  });

  it('a comment written through another app is its user’s', () => {
    const payload = comment('/patchfleet help', { performed_via_github_app: { id: 43 } });
    expect(readTrigger('issue_comment', payload, self).kind).toBe('commands');
  });

  const words = { title: 'Broken', body: 'Why' };
  const issue = { number: 3, ...words, state: 'open', updated_at: '2026-01-02T03:04:05Z', user: mona };
  const sha = 'a'.repeat(40);
  const onPull = { number: 3, ...words, state: 'open', updated_at: issue.updated_at, head: { sha } };
  const labelled = (name: string, change: object = {}) => ({
    action: 'labeled',
    ...common,
    label: { name },
    issue,
    ...change,
  });
  const by = { actor: 'mona', actorType: 'User' };

  it.each([
    ['issues', labelled('patchfleet:fix'), { label: 'fix', isPull: false, headSha: null }],
    ['issues', labelled('Patchfleet:Batch'), { label: 'batch', isPull: false, headSha: null }],
    [
      'pull_request',
      { ...labelled('patchfleet:fix'), issue: undefined, pull_request: onPull },
      { label: 'fix', isPull: true, headSha: sha },
    ],
  ])(
    'a label of %s asks for what it names, with its time and the head that was seen',
    (event, payload, more) => {
      expect(readTrigger(event, payload, self)).toEqual({
        kind: 'label',
        repository: ref,
        number: 3,
        words,
        at: issue.updated_at,
        ...by,
        ...more,
      });
    },
  );

  it('a new issue may be triaged', () => {
    expect(readTrigger('issues', { action: 'opened', ...common, issue }, self)).toEqual({
      kind: 'issue_opened',
      repository: ref,
      number: 3,
      actor: 'mona',
    });
  });

  const push = (change: object = {}) => ({
    ...common,
    repository: { ...repository, default_branch: 'main' },
    ref: 'refs/heads/feature/x',
    after: sha,
    deleted: false,
    commits: [{ message: 'Change' }],
    head_commit: { message: 'Change' },
    ...change,
  });

  it('a push to a branch may start campaigns', () => {
    expect(readTrigger('push', push(), self)).toEqual({
      kind: 'push',
      repository: ref,
      branch: 'feature/x',
      defaultBranch: 'main',
      after: sha,
      actor: 'mona',
    });
  });

  const taskId = '0b5e0a0e-3f0f-4c37-9a51-1f6b1b0a9c11';
  const checks = (change: object = {}) => ({
    app: { id: 43 },
    conclusion: 'failure',
    head_sha: sha,
    head_branch: `patchfleet/${taskId}`,
    ...change,
  });
  const suite = (change: object = {}) => ({
    action: 'completed',
    ...common,
    sender: { login: 'ci[bot]', type: 'Bot' },
    check_suite: checks(change),
  });

  it('checks of another app that fail on a branch of ours are watched, whoever reports them', () => {
    const expected = {
      kind: 'checks_failed',
      repository: ref,
      taskId,
      branch: `patchfleet/${taskId}`,
      headSha: sha,
      isSuite: true,
    };
    expect(readTrigger('check_suite', suite(), self)).toEqual(expected);
    const run = {
      ...suite(),
      check_run: { ...checks({ conclusion: 'timed_out' }), check_suite: checks() },
    };
    expect(readTrigger('check_run', run, self)).toEqual({ ...expected, isSuite: false });
    const branch = `patchfleet/${taskId}-12`;
    expect(readTrigger('check_suite', suite({ head_branch: branch }), self)).toEqual({ ...expected, branch });
  });

  const bot = { login: 'x[bot]', type: 'Bot' };
  it.each([
    ['another event', 'star', { action: 'created' }, 'the event star asks for nothing'],
    ['an event named like a method', 'toString', {}, 'the event toString asks for nothing'],
    [
      'another action',
      'pull_request',
      pull('edited'),
      'pull_request with the action edited asks for nothing',
    ],
    ['no action', 'pull_request', {}, 'pull_request with the action (none) asks for nothing'],
    ['no payload', 'pull_request', null, 'pull_request with the action (none) asks for nothing'],
    [
      'no installation',
      'pull_request',
      pull('opened', { installation: undefined }),
      'the payload lacks installation',
    ],
    [
      'an odd number',
      'pull_request',
      pull('opened', { pull_request: { number: '3' } }),
      'the payload lacks pull_request.number',
    ],
    ['a bot’s push', 'pull_request', pull('synchronize', { sender: bot }), 'caused by the bot x[bot]'],
    [
      'a bot’s comment',
      'issue_comment',
      comment('/patchfleet review', { user: bot }),
      'caused by the bot x[bot]',
    ],
    [
      'a comment that a bot sent',
      'issue_comment',
      comment('/patchfleet review', {}, { sender: bot }),
      'caused by the bot x[bot]',
    ],
    [
      'our own comment',
      'issue_comment',
      comment('/patchfleet review', { performed_via_github_app: { id: 42 } }),
      'a comment of this app',
    ],
    [
      'somebody else’s comment',
      'issue_comment',
      comment('/patchfleet review', { user: { login: 'bo', type: 'User' } }),
      'the comment is not by its sender',
    ],
    ['a comment without command', 'issue_comment', comment('nice'), 'a comment without a command'],
    [
      'an edited comment',
      'issue_comment',
      { ...comment('/patchfleet review'), action: 'edited' },
      'issue_comment with the action edited asks for nothing',
    ],
    ['another label', 'issues', labelled('bug'), 'a label that asks for nothing'],
    [
      'a label put by a bot',
      'issues',
      labelled('patchfleet:fix', { sender: bot }),
      'caused by the bot x[bot]',
    ],
    [
      'a label on a closed issue',
      'issues',
      labelled('patchfleet:fix', { issue: { ...issue, state: 'closed' } }),
      'a label on something closed asks for nothing',
    ],
    [
      'a batch label on a pull request',
      'pull_request',
      labelled('patchfleet:batch', { pull_request: onPull }),
      'batches are of issues; this is a pull request',
    ],
    [
      'a removed label',
      'issues',
      { ...labelled('patchfleet:fix'), action: 'unlabeled' },
      'issues with the action unlabeled asks for nothing',
    ],
    [
      'an issue opened by a bot',
      'issues',
      { action: 'opened', ...common, issue: { ...issue, user: bot } },
      'caused by the bot x[bot]',
    ],
    ['a pushed tag', 'push', push({ ref: 'refs/tags/v1' }), 'a push to no branch'],
    ['a deleted branch', 'push', push({ deleted: true, after: '0'.repeat(40) }), 'the branch was deleted'],
    ['a bot’s own push', 'push', push({ sender: bot }), 'caused by the bot x[bot]'],
    [
      'a push that merges our work',
      'push',
      push({ commits: [{ message: 'Fix\n\nPatchfleet-Task: 1' }, { message: 'Merge' }] }),
      'a push of our own work',
    ],
    [
      'a squash of our work',
      'push',
      push({ head_commit: { message: 'Fix (#3)\n\n* Fix\n\nPatchfleet-Task: 1' } }),
      'a push of our own work',
    ],
    ['checks that passed', 'check_suite', suite({ conclusion: 'success' }), 'the checks ended as success'],
    [
      'checks that were cancelled',
      'check_suite',
      suite({ conclusion: 'cancelled' }),
      'the checks ended as cancelled',
    ],
    ['our own checks', 'check_suite', suite({ app: { id: 42 } }), 'a check of this app'],
    ['checks of a fork', 'check_suite', suite({ head_branch: null }), 'checks of a branch that is not ours'],
    [
      'checks of another branch',
      'check_suite',
      suite({ head_branch: `patchfleet/${taskId}0` }),
      'checks of a branch that is not ours',
    ],
  ])('%s is ignored', (_name, event, payload, reason) => {
    expect(readTrigger(event, payload, self)).toEqual({ kind: 'ignored', reason });
  });

  it('of all example payloads of GitHub only those ask for work that a trigger is for', () => {
    const asking: string[] = [];
    for (const { name, examples } of webhookExamples) {
      for (const payload of examples) {
        const trigger = readTrigger(name, payload, self);
        if (trigger.kind !== 'ignored') asking.push(`${name} ${String(payload['action'])} ${trigger.kind}`);
      }
    }
    expect([...new Set(asking)].sort()).toEqual(
      [
        ...reviewActions.map((action) => `pull_request ${action} pull_request`),
        'pull_request closed closed',
        'push undefined push',
      ].sort(),
    );
  });
});

describe('app.yml', () => {
  it('asks for the events that are handled and the permissions that are used, and no others', () => {
    const manifest = parse(readFileSync(new URL('../../../app.yml', import.meta.url), 'utf8'));
    // Webhooks need no more than these: `push` reading contents, `issues` reading issues, checks reading checks.
    expect([manifest.default_events, manifest.default_permissions]).toEqual([
      Object.keys(handledEvents),
      { checks: 'write', contents: 'write', issues: 'write', pull_requests: 'write', metadata: 'read' },
    ]);
  });
});
