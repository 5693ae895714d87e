import { describe, expect, it } from 'vitest';
import { type EndedCommand, failingTests, failuresOf } from '../../../src/domain/failing-tests.ts';

/** Shortened, but line by line what the runners wrote. */
const outputs: [string, string, string[]][] = [
  [
    'node --test (spec)',
    `✖ fails (1.045477ms)
✔ passes (0.146298ms)
▶ suite
  ✖ inner (0.210647ms)
  ✔ works (0.185675ms)
  ▶ deep
    ✖ inner (0.1488ms)
  ✖ deep (0.318559ms)
✖ suite (5.398141ms)
⚠ todo (0.086155ms) # TODO
✖ test/b.test.js (142.236155ms)
ℹ tests 10
ℹ fail 7

✖ failing tests:

test at test/a.test.js:2:1
✖ fails (1.045477ms)
  AssertionError [ERR_ASSERTION]: 1 == 2

test at test/a.test.js:4:25
✖ inner (0.210647ms)
  Error: x

test at test/a.test.js:4:110
✖ inner (0.1488ms)
  Error: y

test at test/a.test.js:5:1
⚠ todo (0.086155ms) # TODO

test at test/b.test.js:1:1
✖ test/b.test.js (142.236155ms)
  'test failed'
`,
    [
      'test:test/a.test.js:fails',
      'test:test/a.test.js:inner',
      'test:test/a.test.js:inner (2)',
      'test:test/b.test.js',
    ],
  ],
  [
    'node --test (spec) whose end is missing',
    '✖ fails (1.045477ms)\n▶ suite\n  ✖ inner (0.2ms)\n✖ suite (1ms)\n',
    ['test:fails', 'test:inner', 'test:suite'],
  ],
  [
    'node --test (TAP)',
    `TAP version 13
# Subtest: fails
not ok 1 - fails
  ---
  duration_ms: 1.577913
  location: '/workspace/test/a.test.js:2:1'
  failureType: 'testCodeFailure'
  ...
# Subtest: suite
    # Subtest: inner
    not ok 1 - inner
      ---
      location: '/workspace/test/a.test.js:4:25'
      failureType: 'testCodeFailure'
      ...
    # Subtest: works
    ok 2 - works
      ---
      duration_ms: 0.095018
      ...
    # Subtest: deep
        # Subtest: inner
        not ok 1 - inner
          ---
          location: '/workspace/test/a.test.js:4:110'
          failureType: 'testCodeFailure'
          ...
        1..1
    not ok 3 - deep
      ---
      type: 'suite'
      location: '/workspace/test/a.test.js:4:87'
      failureType: 'subtestsFailed'
      ...
    1..3
not ok 3 - suite
  ---
  location: '/workspace/test/a.test.js:4:1'
  failureType: 'subtestsFailed'
  ...
# Subtest: todo
not ok 4 - todo # TODO
  ---
  failureType: 'testCodeFailure'
  ...
# Subtest: /workspace/test/b.test.js
not ok 2 - /workspace/test/b.test.js
  ---
  location: '/workspace/test/b.test.js:1:1'
  failureType: 'testCodeFailure'
  ...
1..7
`,
    [
      'test:test/a.test.js:fails',
      'test:test/a.test.js:suite > deep > inner',
      'test:test/a.test.js:suite > inner',
      'test:test/b.test.js',
    ],
  ],
  [
    'jest',
    `FAIL t/a.test.js (5.123 s)
  ● suite › fails

    x

      at Object.<anonymous> (t/a.test.js:1:51)

  ● suite › deep › in

FAIL t/b.test.js
  ● Test suite failed to run

PASS t/c.test.js
Test Suites: 2 failed, 2 total
`,
    [
      'test:t/a.test.js:suite > deep > in',
      'test:t/a.test.js:suite > fails',
      'test:t/b.test.js:Test suite failed to run',
    ],
  ],
  [
    'vitest, in colour',
    `\u001b[31m⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯\u001b[39m

\u001b[41m\u001b[1m FAIL \u001b[22m\u001b[49m test/b.test.js [ test/b.test.js ]
Error: Cannot find module './nope.js' imported from /tmp/vt/test/b.test.js

 FAIL  test/a.test.js > top
AssertionError: expected 1 to be 2 // Object.is equality

 FAIL  |unit| test/a.test.js > suite > odd > in
Error: x

 Test Files  2 failed (2)
      Tests  2 failed | 1 passed (3)
`,
    ['test:test/a.test.js:suite > odd > in', 'test:test/a.test.js:top', 'test:test/b.test.js'],
  ],
  [
    'mocha',
    `  1) top
  suite
    2) fails
    ✔ ok

  1 passing (4ms)
  3 failing

  1) top:
     Error: 1
      at Context.<anonymous> (m.js:2:22)

  2) suite
       deep
         in:
     Error: y: z

  3) suite
       hooky
         "before all" hook for "never":
     Error: h
`,
    ['test:suite > deep > in', 'test:suite > hooky > "before all" hook for "never"', 'test:top'],
  ],
  [
    'pytest',
    `=========================== short test summary info ============================
FAILED test_a.py::test_p[x - y] - AssertionError: assert 'x - y' == 'q'
FAILED test_a.py::TestC::test_m - ValueError: no - really
FAILED test_a.py::test_o[<object at 0x7f3a5c0d1e50>] - assert 0
ERROR test_a.py::test_fx - RuntimeError: f
ERROR test_b.py
ERROR    root:test_a.py:3 a line of a log
========================= 3 failed, 1 error in 0.23s ==========================
`,
    [
      'test:test_a.py:TestC::test_m',
      'test:test_a.py:test_fx',
      'test:test_a.py:test_o[<object at <address>>]',
      'test:test_a.py:test_p[x - y]',
      'test:test_b.py',
    ],
  ],
  [
    'unittest',
    `EFF
======================================================================
ERROR: test_e (__main__.T.test_e)
----------------------------------------------------------------------
ValueError: x

======================================================================
FAIL: test_s (__main__.T.test_s) (i=0)
----------------------------------------------------------------------
======================================================================
FAIL: test_x (tests.test_a.T)
----------------------------------------------------------------------
FAILED (failures=2, errors=1)
`,
    ['test:__main__.T.test_e', 'test:__main__.T.test_s', 'test:tests.test_a.T.test_x'],
  ],
  [
    'go test',
    `--- FAIL: TestA (0.00s)
    --- FAIL: TestA/sub (0.00s)
        a_test.go:9: no
FAIL
FAIL\texample.com/a\t0.004s
ok  \texample.com/b\t0.002s
# example.com/c
c/c.go:3:1: syntax error
FAIL\texample.com/c [build failed]
--- FAIL: TestP (0.00s)
panic: boom [recovered]
FAIL\texample.com/d\t0.003s
FAIL
`,
    [
      'test:example.com/a:TestA',
      'test:example.com/a:TestA/sub',
      'test:example.com/c:build failed',
      'test:example.com/d:TestP',
      'test:example.com/d:panic',
    ],
  ],
  [
    'cargo test',
    `   Compiling thing v0.1.0 (/workspace)
     Running unittests src/lib.rs (target/debug/deps/thing-3413a480fe4235bf)
running 2 tests
test tests::works ... ok
test tests::breaks ... FAILED
failures:
    tests::breaks
   Doc-tests thing
test src/lib.rs - f (line 1) ... FAILED
error: could not compile \`other\` (lib test) due to 1 previous error
`,
    ['test:other:does not compile', 'test:src/lib.rs:tests::breaks', 'test:thing:src/lib.rs - f'],
  ],
  ['a program of its own', 'Error: it is broken\n    at main (a.js:3:1)\n', []],
];

describe('failing tests', () => {
  it.each(outputs)('are named in the output of %s', (_, output, names) => {
    expect(failingTests(output)).toEqual(names);
  });
});

const ended: EndedCommand = {
  name: 'make test',
  exitCode: 1,
  signal: null,
  timedOut: false,
  spawnError: null,
  stdout: '',
  stderr: '',
  isMaxBuffer: false,
};
const red = 'FAILED a.py::t - x';

it.each<[string, Partial<EndedCommand>, string[]]>([
  ['passes, whatever it wrote', { exitCode: 0, stdout: red }, []],
  ['fails without a word', {}, ['command:make test']],
  ['names a test on its other stream', { stderr: red }, ['test:a.py:t']],
  [
    'runs out of time',
    { exitCode: null, signal: 'SIGKILL', timedOut: true, stdout: red },
    ['command:make test timed out', 'test:a.py:t'],
  ],
  ['is killed', { exitCode: null, signal: 'SIGSEGV' }, ['command:make test was killed by SIGSEGV']],
  ['is not there', { exitCode: null, spawnError: 'ENOENT' }, ['command:make test could not be started']],
  [
    'writes too much',
    { isMaxBuffer: true, stdout: red },
    ['command:make test wrote too much to be read whole', 'test:a.py:t'],
  ],
])('a command that %s fails by the right names', (_, how, failures) => {
  expect(failuresOf({ ...ended, ...how })).toEqual(failures);
});
