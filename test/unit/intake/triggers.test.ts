import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { handledEvents, readTrigger } from '../../../src/intake/triggers.ts';
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
  issue: { number: 3, pull_request: {} },
  comment: { id: 9, body, user: mona, performed_via_github_app: null, ...change },
  ...more,
});

describe('triggers', () => {
  it.each(handledEvents.pull_request)('the pull request event %s asks for a review', (action) => {
    expect(readTrigger('pull_request', pull(action), self)).toEqual({
      kind: 'pull_request',
      action,
      repository: ref,
      pull: 3,
      actor: 'mona',
    });
  });

  it('a comment with commands asks for them, on pull requests and issues', () => {
    const expected = {
      kind: 'commands',
      commands: [{ verb: 'review', args: '' }],
      repository: ref,
      issue: 3,
      isPull: true,
      commentId: 9,
      actor: 'mona',
      actorType: 'User',
    };
    expect(readTrigger('issue_comment', comment('/patchfleet review'), self)).toEqual(expected);
    const onIssue = comment('/patchfleet review', {}, { issue: { number: 3 } });
    expect(readTrigger('issue_comment', onIssue, self)).toEqual({ ...expected, isPull: false });
  });

  it('a comment written through another app is its user’s', () => {
    const payload = comment('/patchfleet help', { performed_via_github_app: { id: 43 } });
    expect(readTrigger('issue_comment', payload, self).kind).toBe('commands');
  });

  const bot = { login: 'x[bot]', type: 'Bot' };
  it.each([
    ['another event', 'push', { action: 'opened' }, 'the event push asks for nothing'],
    ['an event named like a method', 'toString', {}, 'the event toString asks for nothing'],
    [
      'another action',
      'pull_request',
      pull('closed'),
      'pull_request with the action closed asks for nothing',
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
  ])('%s is ignored', (_name, event, payload, reason) => {
    expect(readTrigger(event, payload, self)).toEqual({ kind: 'ignored', reason });
  });

  it('of all example payloads of GitHub only those of the handled actions of pull requests ask for work', () => {
    const asking: string[] = [];
    for (const { name, examples } of webhookExamples) {
      for (const payload of examples) {
        const trigger = readTrigger(name, payload, self);
        if (trigger.kind !== 'ignored') asking.push(`${name} ${String(payload['action'])} ${trigger.kind}`);
      }
    }
    expect([...new Set(asking)].sort()).toEqual(
      [...handledEvents.pull_request].sort().map((action) => `pull_request ${action} pull_request`),
    );
  });
});

describe('app.yml', () => {
  it('asks for the events that are handled and the permissions that are used, and no others', () => {
    const manifest = parse(readFileSync(new URL('../../../app.yml', import.meta.url), 'utf8'));
    expect([manifest.default_events, manifest.default_permissions]).toEqual([
      Object.keys(handledEvents),
      { checks: 'write', contents: 'write', issues: 'write', pull_requests: 'write', metadata: 'read' },
    ]);
  });
});
