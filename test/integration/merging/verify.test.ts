import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { createMergingSetting, type MergingSetting, manifest } from './merging-setting.ts';

const testOf = (name: string, body: string) =>
  `import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n` +
  `import { sum } from '../src/sum.js';\ntest('${name}', () => { ${body} });\n`;
const files = {
  'package.json': manifest('node --test'),
  'src/sum.js': 'export const sum = (a, b) => a + b;\n',
  'test/sum.test.js': testOf('adds', 'assert.equal(sum(1, 2), 3)'),
};
const broken = { 'src/sum.js': 'export const sum = (a, b) => a - b;\n' };

let setting: MergingSetting;
beforeAll(async () => {
  setting = await createMergingSetting(files);
});
afterEach(() => {
  setting.hooks.before = null;
  setting.hooks.ready = null;
  setting.started();
  expect(setting.containers()).toEqual([]);
});
afterAll(async () => await setting.end());

const clean = { passed: true, newFailures: [], knownFailures: [], flaky: [] };

describe('a tree that passes', () => {
  it('is verified once, for every commit and worker that has it', async () => {
    const { verifier, context, commit, head, started } = setting;
    const one = await commit({ 'README.md': 'one\n' });
    const runs: string[] = [];
    const counting = context({ onRun: () => runs.push('run') });
    const [first, second] = await Promise.all([
      verifier.judge(head, one, counting),
      verifier.judge(head, one, counting),
    ]);
    expect([first, second]).toEqual([clean, clean]);
    // The base and the tree itself.
    expect({ started: started(), runs }).toEqual({ started: 2, runs: ['run', 'run'] });

    const same = await setting.mirror.commitTree(await setting.mirror.treeOf(one), [], 'another commit');
    expect(await setting.createAnother().judge(head, same, counting)).toEqual(clean);
    expect({ started: started(), runs }).toEqual({ started: 0, runs: ['run', 'run'] });
    // Another image is another question.
    await setting.createAnother('sha256:another').report(same, context());
    expect(started()).toBe(1);
  });

  it('has a report that people can read', async () => {
    const report = await setting.verifier.report(setting.head, setting.context());
    expect(report).toEqual({
      tree: await setting.mirror.treeOf(setting.head),
      commands: [
        {
          name: 'node --run test',
          exitCode: 0,
          timedOut: false,
          durationMs: expect.any(Number),
          failures: [],
          tests: expect.any(Number),
          tail: expect.stringContaining('adds'),
        },
      ],
      peakMib: expect.any(Number),
    });
    // The next sandbox for this repository is made of what this one needed.
    const { repository } = setting.context();
    expect(await setting.verifications.peaks(repository.id)).toContain(report.peakMib);
  });

  it('needs no container where there is nothing to run', async () => {
    const verdict = await setting.verifier.judge(
      setting.head,
      setting.head,
      setting.context({ commands: [] }),
    );
    expect({ verdict, started: setting.started() }).toEqual({ verdict: clean, started: 0 });
  });
});

describe('a tree that fails', () => {
  it('is run once more before it is believed, and the answer is kept', async () => {
    const commit = await setting.commit({ ...broken, 'README.md': 'red\n' });
    const verdict = {
      passed: false,
      newFailures: ['test:test/sum.test.js:adds'],
      knownFailures: [],
      flaky: [],
    };
    await setting.verifier.report(setting.head, setting.context());
    setting.started();
    expect(await setting.verifier.judge(setting.head, commit, setting.context())).toEqual(verdict);
    expect(setting.started()).toBe(2);
    expect(await setting.verifier.judge(setting.head, commit, setting.context())).toEqual(verdict);
    expect(setting.started()).toBe(0);
  });

  it('counts new failures alone where the base fails already', async () => {
    const old = { 'test/old.test.js': testOf('always failed', 'assert.equal(sum(1, 1), 3)') };
    const base = await setting.commit(old);
    const harmless = await setting.commit({ ...old, 'README.md': 'harmless\n' });
    expect(await setting.verifier.judge(base, harmless, setting.context())).toEqual({
      ...clean,
      knownFailures: ['test:test/old.test.js:always failed'],
    });
    const harmful = await setting.commit({ ...old, ...broken });
    expect(await setting.verifier.judge(base, harmful, setting.context())).toEqual({
      passed: false,
      newFailures: ['test:test/sum.test.js:adds'],
      knownFailures: ['test:test/old.test.js:always failed'],
      flaky: [],
    });
  });

  it('is not condemned by a test that fails once', async () => {
    const read = `import('node:fs').then(({ existsSync }) => assert.ok(!existsSync('storm')))`;
    const commit = await setting.commit({
      'test/weather.test.js': testOf('is fair', `return ${read}`),
    });
    // The first sandbox from here on is that of the tree.
    await setting.verifier.report(setting.head, setting.context());
    setting.started();
    setting.hooks.ready = async (sandbox, nth) => {
      const storm = ['sh', '-c', 'touch storm'];
      if (nth === 1) await sandbox.run(storm, { wallMs: 10_000, signal: new AbortController().signal });
    };
    expect(await setting.verifier.judge(setting.head, commit, setting.context())).toEqual({
      ...clean,
      flaky: ['test:test/weather.test.js:is fair'],
    });
  });

  it('may hang: that is a failure by name, and the waiting one is told that work goes on', async () => {
    // The base, which has the same limit, is through with it at once.
    const commands = [{ name: 'check', argv: ['sh', '-c', 'test ! -e hang || sleep 600'], cwd: '' }];
    const commit = await setting.commit({ hang: '' });
    let told = 0;
    const context = setting.context({ commands, commandMs: 6000, onProgress: () => (told += 1) });
    expect(await setting.verifier.judge(setting.head, commit, context)).toEqual({
      passed: false,
      newFailures: ['command:check timed out'],
      knownFailures: [],
      flaky: [],
    });
    expect(told).toBeGreaterThan(20);
  });

  it('runs the commands before the failing one again, since it may build on them', async () => {
    const shell = (script: string) => ({ name: script, argv: ['sh', '-c', script], cwd: '' });
    const commands = [shell('touch built'), shell('test -e built && test ! -e bad')];
    const commit = await setting.commit({ bad: 'x\n' });
    expect(await setting.verifier.judge(setting.head, commit, setting.context({ commands }))).toEqual({
      passed: false,
      newFailures: ['command:test -e built && test ! -e bad'],
      knownFailures: [],
      flaky: [],
    });
  });
});

/** The container ends with it. */
const killToolServer = "kill -9 $(grep -l 'tool-server[.][jt]s' /proc/[0-9]*/cmdline | cut -d/ -f3)";

describe('a patch that would have its checks pass', () => {
  it('does not by ending the process before the tests run: they are missed', async () => {
    const commit = await setting.commit({ 'src/sum.js': 'export const sum = 0;\nprocess.exit(0);\n' });
    const verdict = await setting.verifier.judge(setting.head, commit, setting.context());
    expect(verdict).toMatchObject({
      passed: false,
      newFailures: [expect.stringMatching(/ran \d+ tests, \d+ in the base$/)],
    });
  });

  it('does not by speaking for the tool server: that ends its sandbox', async () => {
    // A frame of its protocol that nobody has asked for, written to the very stream that the worker reads.
    const forged = JSON.stringify({
      id: 1,
      result: {
        exitCode: 0,
        signal: null,
        stdout: '',
        stderr: '',
        timedOut: false,
        isCanceled: false,
        isMaxBuffer: false,
        spawnError: null,
        durationMs: 1,
      },
    });
    const script = [
      `const body = Buffer.from(${JSON.stringify(forged)});`,
      'const frame = Buffer.alloc(4 + body.length); frame.writeUInt32BE(body.length); body.copy(frame, 4);',
      "const fs = require('node:fs');",
      "for (const pid of fs.readdirSync('/proc')) try { fs.writeFileSync('/proc/' + pid + '/fd/1', frame) } catch {}",
      'setTimeout(() => {}, 60_000);',
    ].join('\n');
    const commands = [{ name: 'check', argv: ['node', 'check.cjs'], cwd: '' }];
    const commit = await setting.commit({ 'check.cjs': script });
    const base = await setting.commit({ 'check.cjs': '' });
    const judging = setting.verifier.judge(base, commit, setting.context({ commands }));
    await expect(judging).rejects.toMatchObject({ code: 'sandbox_died' });
  });
});

describe('a sandbox that fails', () => {
  const shell = (script: string) => ({ name: script, argv: ['sh', '-c', script], cwd: '' });

  it('says nothing about the code: no report is kept when it cannot be had', async () => {
    const commit = await setting.commit({ 'README.md': 'unavailable\n' });
    setting.hooks.before = () => {
      throw new PatchfleetError('sandbox_unavailable', 'no engine');
    };
    const judging = setting.verifier.judge(setting.head, commit, setting.context());
    await expect(judging).rejects.toMatchObject({ code: 'sandbox_unavailable' });
    setting.hooks.before = null;
    expect(await setting.verifier.judge(setting.head, commit, setting.context())).toEqual(clean);
  });

  it('nor when it dies', async () => {
    const context = setting.context({ commands: [shell(`${killToolServer}; sleep 60`)] });
    const judging = setting.verifier.judge(setting.head, setting.head, context);
    await expect(judging).rejects.toMatchObject({ code: 'sandbox_died' });
  });

  it('of another attempt is not the end of the one that waited with it', async () => {
    const commit = await setting.commit({ 'README.md': 'of another\n' });
    setting.hooks.ready = async (sandbox, nth) => {
      const end = { signal: new AbortController().signal, wallMs: 10_000 };
      if (nth === 1) await sandbox.run(['sh', '-c', killToolServer], end).catch(() => undefined);
    };
    const judge = () => setting.verifier.judge(setting.head, commit, setting.context());
    const outcomes = await Promise.allSettled([judge(), judge()]);
    expect(outcomes.sort((a, b) => (a.status < b.status ? -1 : 1))).toMatchObject([
      { status: 'fulfilled', value: clean },
      { status: 'rejected', reason: { code: 'sandbox_died' } },
    ]);
    expect(setting.started()).toBe(2);
  });

  it('is closed when nobody wants the report any more', async () => {
    const abort = new AbortController();
    const context = setting.context({ commands: [shell('sleep 60')], signal: abort.signal });
    setting.hooks.ready = async () => abort.abort(new Error('superseded'));
    await expect(setting.verifier.report(setting.head, context)).rejects.toThrow('superseded');
    await expect.poll(setting.containers).toEqual([]);
  });

  it('is not asked for a program that is not in the image: the report says so', async () => {
    const commands = [{ name: 'gradle test', argv: ['gradle', 'test'], cwd: '' }];
    const report = await setting.verifier.report(setting.head, setting.context({ commands }));
    expect(report.commands).toEqual([
      {
        name: 'gradle test',
        exitCode: null,
        timedOut: false,
        durationMs: expect.any(Number),
        failures: ['command:gradle test could not be started'],
        tests: null,
        tail: expect.stringContaining('No such file'),
      },
    ]);
  });
});
