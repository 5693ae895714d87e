import fc from 'fast-check';
import { expect, it } from 'vitest';
import { failingTests, failuresOf } from '../../../src/domain/failing-tests.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';

/** Pieces that the parsers look for, mixed with anything. */
const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    ...['✖ ', 'test at a.js:1:1', 'not ok 1 - ', '    # Subtest: ', '  ---', '  ...', "  location: 'a:1:2'"],
    ...["  failureType: 'subtestsFailed'", 'FAIL ', 'FAIL\t', '  ● ', ' › ', ' > ', '  1) ', '  3 failing'],
    ...[':', '\n', '\r\n', 'FAILED a.py::', 'ERROR: x (y)', '='.repeat(70), '--- FAIL: T', 'panic: '],
    ...['test a ... FAILED', '     Running a', '\u0000', '\ud800', '/tmp/x', '0xdeadbeef', ' (1.2ms)', '['],
  ),
);
const output = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));

it('whatever the output, names are bounded, sorted, once each and fit for the database', () => {
  fc.assert(
    fc.property(output, (text) => {
      const names = failingTests(text);
      expect(names).toEqual([...new Set(names)].sort());
      for (const name of names) {
        expect(name.length).toBeLessThanOrEqual(305);
        expect(name.isWellFormed() && !name.includes('\0')).toBe(true);
      }
    }),
  );
});

it('a command that did not end with 0 never counts as passed', () => {
  const ending = fc.record({
    exitCode: fc.oneof(fc.integer({ min: 1, max: 255 }), fc.constant(null)),
    timedOut: fc.boolean(),
    isMaxBuffer: fc.boolean(),
    stdout: output,
    stderr: output,
  });
  fc.assert(
    fc.property(ending, (how) => {
      const failures = failuresOf({ name: 'x', signal: null, spawnError: null, ...how });
      expect(failures.length).toBeGreaterThan(0);
    }),
  );
});

it('reads four megabytes of one line, or of many failures, at once', () => {
  const command = {
    name: 'x',
    exitCode: 1,
    signal: null,
    timedOut: false,
    spawnError: null,
    isMaxBuffer: false,
  };
  const many = Array.from({ length: 60_000 }, (_, at) => `FAILED tests/test_a.py::test_${at} - x`).join('\n');
  let failures: readonly string[] = [];
  const took = cpuTimeOf(() => {
    failuresOf({ ...command, stdout: ' '.repeat(2 ** 22), stderr: '(['.repeat(2 ** 20) });
    failures = failuresOf({ ...command, stdout: many, stderr: '' });
  });
  expect(failures.length).toBe(2001);
  expect(failures[0]).toBe('command:x has more than 2000 failures');
  expect(took).toBeLessThan(5000);
});
