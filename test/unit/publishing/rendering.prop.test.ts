import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../src/domain/failure.ts';
import { type Finding, severities } from '../../../src/domain/finding.ts';
import { subtaskStatuses, taskOutcomes } from '../../../src/domain/task.ts';
import { capMarkdown, closeFences, codeBlock, openFence } from '../../../src/publishing/fit-markdown.ts';
import { planReview, reviewMarker } from '../../../src/publishing/plan-review.ts';
import { renderAnnotations, renderCheckRun } from '../../../src/publishing/render-check-run.ts';
import { markerOf, renderComment } from '../../../src/publishing/render-reply.ts';
import { addedFile, finding, subtaskRow, viewOf } from './view.ts';

/** What an attacker, a model in a bad mood, or an unlucky file name might hold. */
const nasty = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '```',
        '~~~~',
        '`',
        '|',
        '\n',
        '\r\n',
        '<!--',
        '-->',
        '@octocat',
        '@patchfleet',
        '/patchfleet cancel',
      ),
      fc.constantFrom(
        '````js\n',
        '> ',
        '- ',
        '<script>',
        '![x](y)',
        '😀',
        '\ud83d',
        '\u202e',
        '&#64;x',
        '\u0000',
        '#12',
        '\\',
      ),
      fc.string({ unit: 'grapheme', maxLength: 12 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));
const long = fc.tuple(nasty, fc.nat(3_000)).map(([text, times]) => text.repeat(times).slice(0, 20_000));

const findingOf = fc.record({
  path: nasty.map((path) => path || 'x'),
  side: fc.constantFrom<'LEFT' | 'RIGHT'>('LEFT', 'RIGHT'),
  severity: fc.constantFrom(...severities),
  title: nasty.map((title) => title || 'x'),
  body: long,
  rule: nasty.map((rule) => rule.slice(0, 100) || 'x'),
  replacement: fc.option(long),
  startLine: fc.integer({ min: 1, max: 60 }),
  quote: nasty,
});

const viewArb = fc
  .record({
    outcome: fc.constantFrom(...taskOutcomes, null),
    findings: fc.array(findingOf, { maxLength: 12 }),
    inDiff: fc.boolean(),
    skipped: fc.array(fc.record({ path: nasty, reason: nasty }), { maxLength: 40 }),
    shards: fc.array(
      fc.record({ title: nasty, agent: nasty, status: fc.constantFrom(...subtaskStatuses), detail: long }),
      { maxLength: 20 },
    ),
  })
  .map(({ outcome, findings, inDiff, skipped, shards }) => ({
    view: viewOf({
      task: { outcome, skipped, phase: outcome === null ? 'running' : 'publishing' },
      subtasks: shards.map(({ detail, ...shard }, row) => {
        const failure: Failure | null = shard.status === 'failed' ? { code: 'command_failed', detail } : null;
        return subtaskRow(row, { ...shard, failure });
      }),
      findings: findings.map((one): Finding => {
        const where = inDiff ? { path: 'src/a.ts', side: 'RIGHT' as const } : {};
        return finding(one.startLine, { ...one, ...where, endLine: one.startLine });
      }),
    }),
  }));

const wellFormed = (text: string) => text.isWellFormed();
/** Trusted remedies name the command in code; everything else must not hold it. */
const withoutRemedies = (text: string) => text.replaceAll('`/patchfleet review`', '');
/** Nobody is mentioned in code. */
const withoutCode = (text: string) => text.replace(/(`+)[^`](?:.*?[^`])?\1(?!`)/g, '');
const triggers = /(^|[^`])[/@]patchfleet\b/i;

describe('any review', () => {
  it('keeps its limits, its marker and its fences, and mentions and triggers nothing', () => {
    fc.assert(
      fc.property(viewArb, ({ view }) => {
        const draft = planReview(view, new Set(), [addedFile('src/a.ts', 60)]);
        if (draft === null) return;
        const shown = (one: typeof draft) => one.comments.length + one.inBody + one.leftOut;
        expect(shown(draft)).toBe(shown(planReview(view, new Set(), null) ?? draft));
        expect(draft.body.length).toBeLessThanOrEqual(65_536);
        expect(draft.body.startsWith(reviewMarker(view.task.id))).toBe(true);
        expect(openFence(draft.body)).toBe(null);
        for (const { body } of draft.comments) {
          expect(body.length).toBeLessThanOrEqual(65_536);
          expect(body.trim()).not.toBe('');
          expect(openFence(body)).toBe(null);
        }
        const bodies = [draft.body, ...draft.comments.map((comment) => comment.body)];
        expect(bodies.every(wellFormed)).toBe(true);
        // Replacements are exact, and in a fence.
        if (view.findings.every((one) => one.replacement === null)) {
          expect(draft.body.split('<!--').length).toBe(2);
          for (const body of bodies) {
            expect(withoutRemedies(body)).not.toMatch(triggers);
            expect(withoutCode(body)).not.toMatch(/@octocat/);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('any check run', () => {
  it('keeps its limits and triggers nothing', () => {
    fc.assert(
      fc.property(fc.array(viewArb, { minLength: 1, maxLength: 4 }), (views) => {
        const sections = views.map(({ view }) => ({ view, review: null }));
        const { output, startedAt } = renderCheckRun(sections);
        expect(output.title.length).toBeGreaterThan(0);
        expect(output.title.length).toBeLessThanOrEqual(255);
        for (const text of [output.summary, output.text ?? '']) {
          expect(text.length).toBeLessThanOrEqual(65_535);
          expect(wellFormed(text)).toBe(true);
          expect(withoutRemedies(text)).not.toMatch(triggers);
          expect(text).not.toMatch(/<!--/);
        }
        expect(output.summary).toContain(views[0]?.view.task.id);
        expect(startedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        for (const annotation of renderAnnotations(sections).values()) {
          expect(Buffer.byteLength(annotation.message)).toBeLessThanOrEqual(64 * 1024);
          expect(annotation.message).not.toBe('');
          expect(annotation.title.length).toBeLessThanOrEqual(255);
          expect(annotation.message).not.toMatch(triggers);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('any reply', () => {
  it('keeps its limit and its marker', () => {
    fc.assert(
      fc.property(nasty, fc.nat(40_000), (text, times) => {
        const body = renderComment('reply:5', text.repeat(times).slice(0, 200_000));
        expect(body.length).toBeLessThanOrEqual(65_536);
        expect(body.startsWith(markerOf('reply:5'))).toBe(true);
        expect(openFence(body)).toBe(null);
        expect(wellFormed(body)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});

describe('capped Markdown', () => {
  it('is never longer than asked, and closes its fences', () => {
    fc.assert(
      fc.property(nasty, fc.nat(200), fc.integer({ min: 60, max: 400 }), (text, times, max) => {
        const capped = capMarkdown(text.repeat(times), max, '\n\n*cut*');
        expect(capped.length).toBeLessThanOrEqual(max);
        expect(openFence(capped)).toBe(null);
        expect(closeFences(capped)).toBe(capped);
      }),
    );
  });

  it('fences any code so that it ends where it should', () => {
    fc.assert(
      fc.property(nasty, (code) => {
        const lines = codeBlock(code, 'suggestion').split('\n');
        const fence = lines.at(-1) ?? '';
        expect(lines[0]).toBe(`${fence}suggestion`);
        expect(code.includes(fence)).toBe(false);
        expect(lines.slice(1, -1).join('\n')).toBe(code);
      }),
    );
  });
});
