import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { type ChangeOutcome, readIntegrations } from '../../../src/publishing/change.ts';
import { defuseClosing } from '../../../src/publishing/defuse-closing.ts';
import { openFence } from '../../../src/publishing/fit-markdown.ts';
import { renderHeld, renderProgress, renderSettled } from '../../../src/publishing/render-change.ts';
import { renderPatch } from '../../../src/publishing/render-patch.ts';
import { commitMessage, pullBody, pullTitle } from '../../../src/publishing/render-pull.ts';
import { candidateOf, changeView, leftOut, patchRow } from './change-view.ts';

type View = ReturnType<typeof changeView>;

function settled(view: View, outcome: ChangeOutcome) {
  return renderSettled(
    view,
    readIntegrations(view).map((integration) => ({ integration, outcome })),
  );
}

function bodyOf(view: View) {
  const [integration] = readIntegrations(view);
  return integration === undefined ? '' : pullBody(view, integration, 'pull:x');
}

const config = (more: object) => repositoryConfigSchema.parse(more);
const two = {
  agents: [
    { title: 'cart', summary: 'Moved 3 strings.' },
    { title: 'orders', summary: 'Moved 2.' },
  ],
  patches: [patchRow(0, ['cart/a.js']), patchRow(1, ['orders/b.js'])],
};

describe('the body of a pull request', () => {
  it('says what was done, what was left out, what was verified and spent', () => {
    const verdict = {
      passed: true,
      newFailures: [],
      knownFailures: ['command:lint', 'test:t:old'],
      flaky: ['test:t:shaky'],
    };
    const view = changeView({
      ...two,
      task: { number: 7, config: config({ verify: { commands: [['npm', 'test']] } }) },
      candidates: [
        {
          candidate: candidateOf({
            merged: [0],
            leftOut: [leftOut(1, 'verification', 'with it, these fail: x')],
            verdict,
          }),
        },
      ],
    });
    expect(bodyOf(view)).toBe(
      [
        '<!-- patchfleet:pull:x -->',
        'Asked for by `mona` in #7: move the strings',
        '### Done',
        '#### cart',
        'Moved 3 strings.',
        'Files: `cart/a.js`',
        '### Left out',
        '- **orders** (`verification`): with it, these fail: x. See the failing checks in the verification log; fix them by hand or ask again with more detail.',
        '### Verification',
        'Verified as a whole: nothing fails with it that did not fail before.',
        'Commands: `npm test`.',
        'Failed before as well, without naming a test, so it judges nothing:',
        '- `command:lint`',
        '1 test failed before and still does:',
        '- `test:t:old`',
        'Failed once and passed when run again (not counted):',
        '- `test:t:shaky`',
        'Spent: 3 model calls, 1,200 tokens · Task `11111111-1111-4111-8111-111111111111`',
      ].join('\n\n'),
    );
  });

  it('closes the issue only where all was merged', () => {
    const whole = changeView({ ...two, candidates: [{ candidate: candidateOf({ merged: [0, 1] }) }] });
    const part = changeView({
      ...two,
      candidates: [{ candidate: candidateOf({ merged: [0], leftOut: [leftOut(1, 'conflict', '')] }) }],
    });
    expect([bodyOf(whole), bodyOf(part)].map((body) => /^Fixes #7$/m.test(body))).toEqual([true, false]);
  });

  it('keeps its limit, its marker and its fences, mentions nobody and closes nothing, whatever agents say', () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom(
        '```\n@octocat\n',
        '<!-- x',
        'fixes #3 and closes octo/shop#4',
        '| a | b |\n',
        'x'.repeat(9000),
        '/patchfleet fix',
      ),
    );
    const agents = fc.array(fc.record({ title: nasty, summary: nasty }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(agents, nasty, (rows, instruction) => {
        const view = changeView({
          task: { instruction, subject: 'pull_request', title: instruction },
          agents: rows,
          patches: rows.map((_, row) => patchRow(row, ['a`b|c.js'])),
          candidates: [{ candidate: candidateOf({ merged: rows.map((_, row) => row) }) }],
        });
        const [integration] = readIntegrations(view);
        if (integration === undefined) throw new Error('no integration');
        const body = pullBody(view, integration, 'pull:x');
        expect(body.length).toBeLessThanOrEqual(65_536);
        expect(body.startsWith('<!-- patchfleet:pull:x -->')).toBe(true);
        expect(openFence(body)).toBe(null);
        const title = pullTitle(view.task, null);
        expect(title).toMatch(/^[^\n]{1,256}$/);
        const message = commitMessage(view.task, integration);
        expect(message).toMatch(/\nPatchfleet-Task: 11111111-1111-4111-8111-111111111111\n$/);
        const comment = settled(view, { kind: 'none' });
        for (const text of [body, title, message, comment, renderProgress(view)]) {
          expect(text.isWellFormed()).toBe(true);
          expect(text).not.toMatch(/@octocat|fixes #3|closes octo|[/]patchfleet fix/i);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('words that close issues', () => {
  it.each([
    'Fixes #3',
    'closed: #3',
    'resolve octo/shop#3',
    'fix GH-3',
    'closes https://github.com/o/r/issues/3',
  ])('are parted from what they name: %s', (text) => {
    const safe = defuseClosing(text);
    expect(safe).toMatch(/^\w+\u200b/);
    expect(safe.replaceAll('\u200b', '')).toBe(text);
  });

  it.each(['fixes the cart', 'a prefix #3', 'fixed 3 strings'])('are left alone elsewhere: %s', (text) => {
    expect(defuseClosing(text)).toBe(text);
  });
});

describe('the comment of a change', () => {
  const merged = candidateOf({ merged: [0, 1] });
  const none = { commit: null, tree: null };
  const both = [leftOut(0, 'conflict', 'with main'), leftOut(1, 'verification', 'red')];

  it.each([
    [
      'a pull request',
      { candidate: merged },
      {},
      { kind: 'pull', number: 9, url: 'https://x/9', branch: 'b', note: '' },
      '**Draft pull request [#9](https://x/9): 2 of 2 subtasks merged.**',
    ],
    [
      'one that somebody closed',
      { candidate: merged },
      {},
      { kind: 'pull', number: 9, url: 'u', branch: 'b', note: 'Somebody closed it.' },
      '2 of 2 subtasks merged.** Somebody closed it.',
    ],
    [
      'a fork',
      { candidate: merged },
      {},
      { kind: 'patch', url: 'https://x/c' },
      'the patch is in [a comment](https://x/c)',
    ],
    [
      'a refusal',
      { candidate: merged },
      {},
      { kind: 'refused', failure: { code: 'github_refused', detail: 'the branch main is gone' } },
      '**No pull request.** The branch main is gone.',
    ],
    [
      'a target that never rests',
      { candidate: merged },
      {},
      { kind: 'refused', failure: { code: 'target_moving', detail: 'main moved' } },
      '(`target_moving`)',
    ],
    [
      'all left out',
      { candidate: candidateOf({ ...none, leftOut: both }) },
      {},
      { kind: 'none' },
      '**No pull request: none of the changes could be merged.**',
    ],
    [
      'all or nothing',
      { candidate: candidateOf({ ...none, leftOut: both.slice(1) }) },
      { config: config({ fix: { on_partial: 'all_or_nothing' } }) },
      { kind: 'none' },
      'wants all or nothing (`fix.on_partial`)',
    ],
  ] as const)('says it of %s', (_, one, task, outcome, expected) => {
    const view = changeView({ ...two, task, candidates: [one] });
    expect(settled(view, outcome)).toContain(expected);
  });

  it('calls nothing merged that is in no pull request', () => {
    const view = changeView({ ...two, candidates: [{ candidate: merged }] });
    const failure = { code: 'github_refused', detail: 'the branch main is gone' } as const;
    const text = settled(view, { kind: 'refused', failure });
    expect(text).not.toContain('merged');
    expect(text.match(/\| not published \|/g)).toHaveLength(2);
  });

  it('gives the reasons of the agents where there is nothing to change', () => {
    const view = changeView({
      agents: [{ title: 'cart', summary: 'The strings are in config already.' }],
      candidates: [{ candidate: candidateOf(none) }],
    });
    const text = settled(view, { kind: 'none' });
    expect(text).toContain('**There is nothing to change: no pull request.**');
    expect(text).toContain('- **cart**: The strings are in config already.');
  });

  it('says of a cancelled one that nothing was published', () => {
    const view = changeView({ ...two, task: { outcome: 'cancelled' } });
    expect(settled(view, { kind: 'none' })).toContain('**The fix was cancelled.** Nothing was published.');
  });

  it('shows a live table while it runs', () => {
    const view = changeView({
      task: { outcome: null, phase: 'running' },
      agents: [{ title: 'cart' }, { title: 'a|b', status: 'running' }, { title: 'c', status: 'waiting' }],
      patches: [patchRow(0, ['x', 'y'])],
      candidates: [{ candidate: null }],
    });
    expect(renderProgress(view)).toBe(
      [
        '**Working on the fix: 1 of 3 subtasks done.**\n',
        '| Subtask | Status | Result |',
        '| --- | --- | --- |',
        '| cart | done | 2 files |',
        '| a&#124;b | running |  |',
        '| c | waiting |  |',
      ].join('\n'),
    );
  });

  it('says once what many rows failed by', () => {
    const failure = { code: 'setup_failed', detail: '`npm ci` ended with exit code 1.' } as const;
    const view = changeView({
      task: { outcome: null, phase: 'running' },
      agents: ['a', 'b', 'c'].map((title) => ({ title, status: 'failed', failure })),
      candidates: [{ candidate: null }],
    });
    const table = renderProgress(view).split('\n').slice(4);
    expect(table).toEqual([
      '| a | failed | `setup_failed`: \\`npm ci\\` ended with exit code 1. |',
      '| b | failed | `setup_failed` |',
      '| c | failed | `setup_failed` |',
    ]);
  });

  it('asks for a maintainer where the task is held', () => {
    expect(renderHeld(changeView({ agents: [] }))).toContain('`/patchfleet approve`');
  });
});

describe('a patch as a comment', () => {
  const file = (name: string, lines: number) =>
    `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -0,0 +1,${lines} @@\n${'+line of ``` text\n'.repeat(lines)}`;

  it('holds whole files and names the ones that do not fit', () => {
    const text = renderPatch(
      Buffer.from(file('a', 2) + file('big', 9000) + file('c', 1)),
      'a'.repeat(40),
      'r',
    );
    expect(text).toContain(`\n${file('a', 2)}${file('c', 1)}\`\`\`\``);
    expect(text).toContain('- `a/big b/big`');
    expect(openFence(text)).toBe(null);
  });

  it.each([null, Buffer.from([0x2b, 0xff, 0x0a])])('says so where it cannot be shown', (patch) => {
    expect(renderPatch(patch, 'a'.repeat(40), 'report')).toContain('no plain text');
  });
});
