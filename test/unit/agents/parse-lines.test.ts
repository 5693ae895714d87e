import { describe, expect, it } from 'vitest';
import { parseLines } from '../../../src/agents/parse-lines.ts';
import { commandAgentSchema } from '../../../src/config/agent-config.ts';

const { pattern: standard } = commandAgentSchema.parse({
  name: 'lint',
  kind: 'command',
  command: ['lint'],
  format: 'lines',
});
const options = { workspace: '/workspace', defaultRule: 'lint' };
const result = (change: object = {}) => ({
  path: 'src/a.ts',
  startLine: 3,
  endLine: 3,
  severity: 'warning',
  rule: 'lint',
  message: 'unused',
  fix: null,
  ...change,
});

describe('parseLines', () => {
  it.each([
    ['src/a.ts:3: unused', {}],
    ['src/a.ts:3:14: unused', {}],
    ['./src/a.ts:3:14: error: unused', { severity: 'error' }],
    ['/workspace/src/a.ts:3:14: note unused', { severity: 'note' }],
    ['app/[id]/a b: c.ts:3: unused', { path: 'app/[id]/a b: c.ts' }],
  ])('reads %j by the standard pattern', (line, change) => {
    expect(parseLines(`${line}\r\n`, standard, options)).toEqual({ results: [result(change)], unmatched: 0 });
  });

  it('reads rule, last line and severity by a pattern of its own, and counts what does not match', () => {
    const pattern = String.raw`^(?<severity>\w+) (?<rule>\S+) (?<path>\S+) (?<line>\d+)-(?<endLine>\d+) (?<message>.+)$`;
    const text =
      'linting...\nFATAL X1 src/a.ts 3-5 bad\nE X2 src/a.ts 4-2 odd\nR X3 src/a.ts 0-0 no line\n\n3 problems\n';
    expect(parseLines(text, pattern, options)).toEqual({
      results: [
        result({ severity: 'error', rule: 'X1', endLine: 5, message: 'bad' }),
        result({ severity: 'error', rule: 'X2', startLine: 4, endLine: 4, message: 'odd' }),
      ],
      unmatched: 3,
    });
  });

  it.each([
    ['is no regular expression', '(', /Invalid regular expression/],
    ['lacks a group', '^(?<path>.+):(?<message>.+)$', /lacks the group line/],
  ])('refuses a pattern that %s', (_, pattern, reason) => {
    expect(() => parseLines('x', pattern, options)).toThrowError(
      expect.objectContaining({ code: 'config_invalid', detail: expect.stringMatching(reason) }),
    );
  });

  it('ends a match that would take for ever', () => {
    const pattern = '^(?<path>(?:a+)+)(?<line>\\d)(?<message>b)$';
    expect(() => parseLines('a'.repeat(60), pattern, options)).toThrowError(
      expect.objectContaining({ code: 'output_invalid' }),
    );
  });
});
