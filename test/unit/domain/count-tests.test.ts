import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTests } from '../../../src/domain/count-tests.ts';

describe('tests that ran', () => {
  it.each<[string, string, number | null]>([
    ['node, spec reporter', '\u2714 adds (1ms)\n\u2139 tests 40\n\u2139 suites 3\n\u2139 pass 39\n', 40],
    ['node, TAP', 'TAP version 13\nok 1 - adds\n1..1\n# tests 7\n# pass 7\n', 7],
    [
      'files of node in which none ran',
      '\u2714 test/a.test.js (49.4ms)\n\u2714 adds (1ms)\n\u2139 tests 2\n',
      1,
    ],
    ['the same in TAP', 'ok 1 - test/a.test.js\n# tests 1\n', 0],
    ['two runs of node', '# tests 7\n# pass 7\n# tests 5\n', 12],
    ['Jest', 'Tests:       1 failed, 1 skipped, 2 passed, 4 total\nTime: 1 s\n', 4],
    ['Vitest', ' Test Files  1 passed (1)\n      Tests  1 failed | 22 passed (23)\n', 23],
    [
      'Vitest, coloured',
      '\u001b[2m      Tests \u001b[22m \u001b[1m27 passed\u001b[39m\u001b[90m (27)\u001b[39m\n',
      27,
    ],
    ['Mocha', '  12 passing (1s)\n  2 failing\n', 14],
    ['pytest', '==== 1 failed, 22 passed in 0.12s ====\n', 23],
    ['pytest, all passing', '=== 22 passed, 1 warning in 0.12s ===\n', 22],
    ['unittest', 'Ran 9 tests in 0.001s\n\nOK\n', 9],
    ['cargo', 'test result: ok. 3 passed; 1 failed; 0 ignored\ntest result: ok. 2 passed; 0 failed\n', 6],
    ['go', 'ok  \tx/a\t0.01s\nFAIL\tx/b\t0.2s\nok  \tx/c\t(cached)\n', 3],
    ['nothing that is known', 'all fine\n', null],
    ['nothing at all', '', null],
  ])('are counted for %s', (_, output, count) => {
    expect(countTests(output)).toBe(count);
  });

  it('are counted in any text without a fault', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const count = countTests(text);
        expect(count === null || count >= 0).toBe(true);
      }),
    );
  });
});
