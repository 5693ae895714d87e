import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { repositoryConfigSchema } from '../../../src/config/repository-config.ts';
import { type SandboxConfig, sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import { createMirrorWriter } from '../../../src/github/mirror-writer.ts';
import { createSetupPlanner } from '../../../src/sandbox/bases/setup-plan.ts';
import type { KindRequest } from '../../../src/sandbox/port.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import { bareRepository, commitOf, git } from './git-trees.ts';

const signal = new AbortController().signal;
let home: string;
let mirrorDir: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'patchfleet-plans-'));
  mirrorDir = bareRepository(home, 'mirror.git');
});
afterAll(() => removeTree(home));

const commit = (lock: string, source: string) =>
  commitOf(
    mirrorDir,
    Object.entries({ 'package-lock.json': lock, 'src/a.js': source }).map(([path, content]) => ({
      ...{ mode: '100644', path: Buffer.from(path), content: Buffer.from(content) },
    })),
  );
/** The same files as agents leave them: a commit that the mirror made. */
const commitOfAgents = async (from: string) => {
  const tree = git(mirrorDir, ['rev-parse', `${from}^{tree}`])
    .toString()
    .trim();
  return await createMirrorWriter(mirrorDir).commitTree(tree, [], 'part of a fix');
};

const npm = { host: 'registry.npmjs.org', port: 443, private: false };
const network = (agents: boolean): Pick<SandboxConfig, 'network'> =>
  sandboxConfigSchema.parse({ network: { allow: [npm], agents } });
const setup = { commands: [['npm', 'ci']], network: { allow: ['registry.npmjs.org'] } };

interface Change extends Partial<Pick<KindRequest, 'commit' | 'trusted' | 'taskId'>> {
  readonly image?: string;
  readonly setup?: object;
  readonly alone?: boolean;
  readonly agents?: boolean;
}
async function plan({ image = 'sha256:1', alone = false, agents = false, ...change }: Change) {
  const request: KindRequest = {
    repository: { id: 1, mirrorDir },
    ...{ commit: '', trusted: '', taskId: 'task', use: 'agent', ...change },
    config: repositoryConfigSchema.parse({ setup: change.setup ?? setup }),
  };
  const made = await createSetupPlanner(network(agents))(request, image, alone, signal);
  if (made === null) throw new Error('nothing is planned');
  return made;
}

it('what the trusted commit wants as well is made of that, for everybody', async () => {
  const trusted = commit('1', 'one');
  const first = await plan({ commit: trusted, trusted });
  expect(first).toEqual({ key: expect.stringMatching(/^[0-9a-f]{64}$/), commit: trusted, network: [npm] });
  const head = commit('1', 'two');
  expect(await plan({ commit: head, trusted, taskId: 'another' })).toEqual(first);
  expect(await plan({ commit: await commitOfAgents(head), trusted })).toEqual(first);
});

it('everything that decides is in the key', async () => {
  const trusted = commit('1', 'one');
  const at = { commit: trusted, trusted };
  const keys = await Promise.all([
    plan(at),
    plan({ ...at, image: 'sha256:2' }),
    plan({ ...at, setup: { ...setup, commands: [['npm', 'install']] } }),
    plan({ ...at, setup: { ...setup, seconds: 5 } }),
    plan({ ...at, setup: { ...setup, network: { allow: [] } } }),
    plan({ ...at, setup: { ...setup, lockfiles: ['src/*'] } }),
    plan({ ...at, alone: true }),
  ]);
  expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
});

it('what only a pull request wants is made of its own code, for its task', async () => {
  const trusted = commit('1', 'one');
  const head = commit('2', 'one');
  const own = await plan({ commit: head, trusted });
  expect(own).toMatchObject({ commit: head, network: [npm] });
  expect((await plan({ commit: commit('2', 'two'), trusted })).key).toBe(own.key);
  expect((await plan({ commit: head, trusted, taskId: 'another' })).key).not.toBe(own.key);
  expect((await plan({ commit: head, trusted: head })).key).not.toBe(own.key);
  // A mirror that has lost the base trusts nothing.
  expect(await plan({ commit: head, trusted: '1'.repeat(40) })).toEqual(own);
});

it('what agents wrote into a lockfile is made without network, unless they may have one', async () => {
  const trusted = commit('1', 'one');
  const head = await commitOfAgents(commit('3', 'one'));
  const closed = await plan({ commit: head, trusted });
  expect(closed).toMatchObject({ commit: head, network: [] });
  const open = await plan({ commit: head, trusted, agents: true });
  expect(open).toMatchObject({ commit: head, network: [npm] });
  expect(open.key).not.toBe(closed.key);
});

it('nothing is planned without commands', async () => {
  const trusted = commit('1', 'one');
  await expect(plan({ commit: trusted, trusted, setup: {} })).rejects.toThrow('nothing is planned');
});
