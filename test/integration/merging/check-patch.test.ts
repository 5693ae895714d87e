import { beforeEach, describe, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { createPatchChecker } from '../../../src/merging/check-patch.ts';
import type { HarvestEntry } from '../../../src/sandbox/port.ts';
import { never } from '../sandbox/docker-setting.ts';
import { createGitSetting, type Files, type GitSetting, manifest, nodeTests } from './merging-setting.ts';

/** What an agent left, judged by a real git; every tree is green. */

const files = {
  'package.json': manifest('node scripts/run-tests.mjs'),
  'scripts/run-tests.mjs': 'process.exit(1);\n',
  'scripts/release.mjs': '\n',
  'src/a.js': 'old\n',
  'node_modules/dep/index.js': 'vendored\n',
};

let setting: GitSetting;
beforeEach(async () => {
  setting = await createGitSetting(files);
  return async () => await setting.end();
});

async function check(changes: Files, writes: string[] = ['**']) {
  const verified: string[] = [];
  const checker = createPatchChecker({
    report: () => Promise.reject(new Error('not asked for')),
    judge: async (_base, commit) => {
      verified.push(commit);
      return { passed: true, newFailures: [], knownFailures: [], flaky: [] };
    },
  });
  const harvest = Object.entries(changes).map(([path, content]): HarvestEntry => {
    if (content === null) return { kind: 'deleted', path };
    const bytes = Buffer.from(content);
    return { kind: 'file', path, executable: false, bytes: bytes.length, read: async () => bytes };
  });
  const checked = await checker({
    mirror: setting.mirror,
    base: setting.head,
    harvest,
    writes,
    config: repositoryConfigSchema.parse({}),
    message: 'made by a test',
    context: {
      taskId: 'task',
      attemptId: 'attempt',
      repository: { id: 1, mirrorDir: setting.mirror.dir },
      kind: { config: repositoryConfigSchema.parse({}), trusted: setting.head },
      commands: [nodeTests],
      commandMs: 1000,
      signal: never,
      onProgress: () => {},
    },
  });
  return { commit: checked?.patch.commit, verified };
}

describe('a patch', () => {
  it('is verified as it is', async () => {
    const { commit, verified } = await check({ 'src/a.js': 'new\n', 'scripts/release.mjs': 'new\n' });
    expect(verified).toEqual([commit]);
  });

  it('may not change what the test script runs, unless its row names it', async () => {
    const changes = { 'src/a.js': 'new\n', 'scripts/run-tests.mjs': 'process.exit(0);\n' };
    await expect(check(changes)).rejects.toMatchObject({
      code: 'patch_refused',
      detail:
        'scripts/run-tests.mjs: is run by the checks, and only a subtask that names the file may change it (protected)',
    });
    const { commit, verified } = await check(changes, ['src/**', 'scripts/run-tests.mjs']);
    expect(verified).toEqual([commit]);
  });

  it.each([
    ['changed', { 'node_modules/dep/index.js': 'changed\n' }],
    ['added', { 'node_modules/other/index.js': 'new\n' }],
  ])(
    'whose installed package is %s is refused: it would be published without having been verified',
    async (_, changes) => {
      await expect(check({ 'src/a.js': 'new\n', ...changes })).rejects.toMatchObject({
        code: 'patch_refused',
        detail: `${Object.keys(changes)[0]}: is as in the base when the checks run (protected)`,
      });
    },
  );
});
