import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { plantedFaults } from '../../support/model/planted-faults.ts';
import { readSample } from '../../support/sample/sample.ts';

/** Runs `node --test` over the files in a directory of their own. */
async function runTests(files: Readonly<Record<string, string | Buffer | null>>) {
  const dir = await mkdtemp(join(tmpdir(), 'sample-'));
  try {
    for (const [path, content] of Object.entries(files)) {
      if (content === null) continue;
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), content);
    }
    // Node's test runner behaves differently below another test runner that says so in its environment.
    const env = { PATH: process.env['PATH'] ?? '', NODE_TEST_CONTEXT: undefined };
    const { exitCode, stdout } = await execa(process.execPath, ['--test'], {
      cwd: dir,
      env,
      extendEnv: false,
      reject: false,
    });
    return { exitCode, passed: Number(/^. pass (\d+)$/m.exec(stdout)?.[1]), output: stdout };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

describe('the sample repository', () => {
  const sample = readSample();

  it('has at least 60 source files in 6 packages', () => {
    const sources = Object.keys(sample.base).filter((path) => /^packages\/\w+\/src\/.+\.js$/.test(path));
    expect(sources.length).toBeGreaterThanOrEqual(60);
    expect(new Set(sources.map((path) => path.split('/')[1])).size).toBe(6);
  });

  it('changes at least 30 files, with every kind of fault', () => {
    expect(Object.keys(sample.head).length).toBeGreaterThanOrEqual(30);
    expect(new Set(sample.planted.map((fault) => fault.rule))).toEqual(
      new Set(plantedFaults.map((fault) => fault.rule)),
    );
  });

  it('has no fault that is not planted', () => {
    const found = Object.entries(sample.head).flatMap(([path, content]) => {
      if (typeof content !== 'string') return [];
      const before = new Set((sample.base[path] ?? '').split('\n'));
      return content
        .split('\n')
        .filter((line) => !before.has(line))
        .flatMap((line) =>
          plantedFaults.filter(({ pattern }) => pattern.test(line)).map(({ rule }) => ({ path, rule })),
        );
    });
    expect(found.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      sample.planted.map(({ path, rule }) => ({ path, rule })),
    );
  });

  it('passes its own tests before and after the pull request', async () => {
    const before = await runTests(sample.base);
    expect(before, before.output).toMatchObject({ exitCode: 0, passed: 40 });
    const after = await runTests({ ...sample.base, ...sample.head });
    expect(after, after.output).toMatchObject({ exitCode: 0, passed: 40 });
  });
});
