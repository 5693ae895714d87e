import { describe, expect, it } from 'vitest';
import { parseSarif } from '../../../src/agents/parse-sarif.ts';

const place = (uri: string, region: object = { startLine: 3 }) => [
  { physicalLocation: { artifactLocation: { uri }, region } },
];
const problem = (change: object = {}) => ({
  ruleId: 'no-eval',
  level: 'error',
  message: { text: 'Do not.' },
  locations: place('src/a.ts'),
  ...change,
});
const sarif = (results: unknown, run: object = {}) =>
  JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'lint' } }, results, ...run }] });
const parsed = (change: object = {}) => ({
  path: 'src/a.ts',
  startLine: 3,
  endLine: 3,
  severity: 'error',
  rule: 'no-eval',
  message: 'Do not.',
  fix: null,
  ...change,
});

describe('parseSarif', () => {
  it.each<[string, object, object]>([
    ['a plain result', {}, {}],
    [
      'a region of several lines',
      { locations: place('src/a.ts', { startLine: 3, endLine: 5 }) },
      { endLine: 5 },
    ],
    [
      'a region that ends before the first column of a line',
      { locations: place('src/a.ts', { startLine: 3, endLine: 5, endColumn: 1 }) },
      { endLine: 4 },
    ],
    ['an encoded path', { locations: place('./app/%5Bid%5D/a%20b.ts') }, { path: 'app/[id]/a b.ts' }],
    ['a path with a lone per cent sign', { locations: place('100%.ts') }, { path: '100%.ts' }],
    ['a file URI below the workspace', { locations: place('file:///workspace/src/a.ts') }, {}],
    ['an absolute path below the workspace', { locations: place('/workspace/src/a.ts') }, {}],
    ['a level of none', { level: 'none' }, { severity: 'note' }],
    ['no level', { level: undefined }, { severity: 'warning' }],
    [
      'a message with a link in it',
      { message: { text: 'See {0}.', arguments: ['x'] } },
      { message: 'See x.' },
    ],
  ])('reads %s', (_, change, expected) => {
    expect(parseSarif(sarif([problem(change)]), '/workspace')).toEqual({
      results: [parsed(expected)],
      unplaced: 0,
    });
  });

  it('takes level and message from the rule where the result has none', () => {
    const rules = [
      {
        id: 'r1',
        defaultConfiguration: { level: 'note' },
        messageStrings: { default: { text: 'Found {0} in {1}.' } },
      },
    ];
    const text = sarif(
      [{ ruleIndex: 0, message: { id: 'default', arguments: ['a', 'b'] }, locations: place('src/a.ts') }],
      { tool: { driver: { name: 'lint', rules } } },
    );
    expect(parseSarif(text, '/workspace').results).toEqual([
      parsed({ rule: 'r1', severity: 'note', message: 'Found a in b.' }),
    ]);
  });

  it('finds the path by its index in the artifacts', () => {
    const locations = [{ physicalLocation: { artifactLocation: { index: 1 }, region: { startLine: 3 } } }];
    const artifacts = [{}, { location: { uri: 'src/a.ts' } }];
    expect(parseSarif(sarif([problem({ locations })], { artifacts }), '/workspace').results).toEqual([
      parsed(),
    ]);
  });

  it('leaves out what is no problem and counts what has no place', () => {
    const text = sarif([
      problem({ kind: 'pass' }),
      problem({ suppressions: [{}] }),
      problem({ suppressions: [{ status: 'accepted' }] }),
      problem({ baselineState: 'absent' }),
      problem({ locations: [] }),
      problem({ locations: place('src/a.ts', {}) }),
      problem({ suppressions: [{ status: 'rejected' }] }),
    ]);
    expect(parseSarif(text, '/workspace')).toEqual({ results: [parsed()], unplaced: 2 });
  });

  const fixed = (deletedRegion: object, text?: string) => ({
    fixes: [
      {
        artifactChanges: [
          {
            artifactLocation: { uri: 'src/a.ts' },
            replacements: [{ deletedRegion, insertedContent: { text } }],
          },
        ],
      },
    ],
  });
  it.each<[string, object, string | undefined, object | null]>([
    ['lines to their end', { startLine: 3, endLine: 4 }, 'new', { startLine: 3, endLine: 4, text: 'new' }],
    [
      'lines with their newline',
      { startLine: 3, startColumn: 1, endLine: 5, endColumn: 1 },
      'a\nb\n',
      { startLine: 3, endLine: 4, text: 'a\nb' },
    ],
    ['a part of a line', { startLine: 3, startColumn: 5, endColumn: 9 }, 'new', null],
    ['a beginning of a line', { startLine: 3, startColumn: 1, endColumn: 9 }, 'new', null],
    ['lines with a newline that is not put back', { startLine: 3, endLine: 4, endColumn: 1 }, 'new', null],
  ])('reads a fix of %s', (_, region, text, fix) => {
    const { results } = parseSarif(sarif([problem(fixed(region, text))]), '/workspace');
    expect(results[0]?.fix).toEqual(fix);
  });

  it('takes no results for an empty run, and a byte order mark', () => {
    expect(parseSarif(`\uFEFF${sarif([])}`, '/workspace')).toEqual({ results: [], unplaced: 0 });
  });

  it.each([
    ['an empty text', '', /not JSON/],
    ['half a log', sarif([problem()]).slice(0, 60), /not JSON/],
    ['another version', '{"version":"2.0.0","runs":[]}', /not SARIF 2\.1\.0: version/],
    ['another shape', '{"version":"2.1.0","runs":[{"results":[]}]}', /not SARIF 2\.1\.0: runs\.0\.tool/],
    [
      'a run that did not succeed',
      sarif([], { invocations: [{ executionSuccessful: false }] }),
      /lint reports/,
    ],
    ['a run that was not done', sarif(null), /lint reports/],
  ])('refuses %s', (_, text, reason) => {
    expect(() => parseSarif(text, '/workspace')).toThrowError(
      expect.objectContaining({ code: 'output_invalid', detail: expect.stringMatching(reason) }),
    );
  });
});
