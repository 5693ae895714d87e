import { expect, it } from 'vitest';
import { compareReports, conclude } from '../../../src/domain/compare-reports.ts';
import type { VerificationReport } from '../../../src/domain/verification.ts';

const report = (...failures: string[][]): VerificationReport => ({
  tree: 't',
  commands: failures.map((names, at) => ({
    name: `c${at}`,
    exitCode: names.length === 0 ? 0 : 1,
    timedOut: false,
    durationMs: 1,
    failures: names,
    tests: null,
    tail: '',
  })),
});

it.each<[string, string[][], string[][], string[][] | null, object]>([
  [
    'only new failures count, and the old ones are said',
    [['test:a']],
    [['test:a', 'test:b']],
    [['test:a', 'test:b']],
    { passed: false, newFailures: ['test:b'], knownFailures: ['test:a'], flaky: [] },
  ],
  [
    'nothing new passes without another run',
    [['test:a', 'test:b']],
    [['test:b']],
    null,
    { passed: true, newFailures: [], knownFailures: ['test:b'], flaky: [] },
  ],
  [
    'a test that passes the second time is flaky',
    [[]],
    [['test:a', 'test:b']],
    [['test:b']],
    { passed: false, newFailures: ['test:b'], knownFailures: [], flaky: ['test:a'] },
  ],
  [
    'two different flakes condemn nobody',
    [[]],
    [['test:a']],
    [['test:b']],
    { passed: true, newFailures: [], knownFailures: [], flaky: ['test:a', 'test:b'] },
  ],
  [
    'a time-out after a failing test is no flake',
    [[]],
    [['test:a']],
    [['command:c0 timed out']],
    { passed: false, newFailures: ['test:a', 'command:c0 timed out'], knownFailures: [], flaky: [] },
  ],
  [
    'a base that names no test cannot excuse one that is named',
    [['command:c0']],
    [['test:a']],
    [['test:a']],
    { passed: false, newFailures: ['test:a'], knownFailures: [], flaky: [] },
  ],
  [
    'a base that names tests cannot excuse a crash',
    [['test:a']],
    [['command:c0']],
    [['command:c0']],
    { passed: false, newFailures: ['command:c0'], knownFailures: [], flaky: [] },
  ],
  [
    'red without names before and after is known',
    [['command:c0']],
    [['command:c0']],
    null,
    { passed: true, newFailures: [], knownFailures: ['command:c0'], flaky: [] },
  ],
  [
    'a test that fails in one command is new in another',
    [['test:a'], []],
    [['test:a'], ['test:a']],
    [['test:a'], ['test:a']],
    { passed: false, newFailures: ['test:a'], knownFailures: ['test:a'], flaky: [] },
  ],
])('%s', (_, base, after, again, verdict) => {
  const compare = (failures: string[][]) => compareReports(report(...base), report(...failures));
  expect(conclude(compare(after), again === null ? null : compare(again))).toEqual(verdict);
});

it.each<[string, (number | null)[], string[]]>([
  ['fewer tests than in the base', [40, 12], ['command:c0 ran 12 tests, 40 in the base']],
  ['a run that does not say any more', [40, null], ['command:c0 ran 0 tests, 40 in the base']],
  ['as many', [40, 40], []],
  ['more', [40, 41], []],
  ['a base that did not say', [null, 3], []],
])('judges %s', (_, [had, has], newFailures) => {
  const of = (tests: number | null | undefined): VerificationReport => ({
    tree: 't',
    commands: report([]).commands.map((command) => ({ ...command, tests: tests ?? null })),
  });
  const comparison = compareReports(of(had), of(has));
  expect(conclude(comparison, newFailures.length === 0 ? null : comparison)).toEqual({
    passed: newFailures.length === 0,
    newFailures,
    knownFailures: [],
    flaky: [],
  });
});
