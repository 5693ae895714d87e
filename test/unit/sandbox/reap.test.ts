import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type Docker from 'dockerode';
import { afterAll, expect, it } from 'vitest';
import { sandboxConfigSchema } from '../../../src/config/sandbox-config.ts';
import type { Engine } from '../../../src/sandbox/container/docker-host.ts';
import type { Egress } from '../../../src/sandbox/egress/open-egress.ts';
import { createSandboxOpener } from '../../../src/sandbox/open-sandbox.ts';
import { reap } from '../../../src/sandbox/reap.ts';
import type { Workspace, Workspaces } from '../../../src/sandbox/workspaces/workspaces.ts';

/** What a worker knows to be its own while it makes sandboxes. The reaper over the real engine is in the integration tests. */

const home = mkdtempSync(join(tmpdir(), 'patchfleet-reap-'));
afterAll(() => rm(home, { recursive: true, force: true }));
const hosts = join(home, 'hosts');
const never = new AbortController().signal;
const log = { warn: () => {} };
const gone = Object.assign(new Error('no such container'), { statusCode: 404 });

/** A worker whose workspaces are made by the test, and whose engine starts nothing. */
function setting() {
  const making: { readonly id: string; end(): Promise<void>; fail(): Promise<void> }[] = [];
  const there = new Set<string>();
  const removed: string[] = [];
  let answers: Promise<unknown> = Promise.resolve();
  const docker = {
    listContainers: async () => {
      await answers;
      return [];
    },
    createContainer: async () => {
      throw new Error('the engine starts nothing');
    },
    getContainer: () => ({ remove: async () => Promise.reject(gone) }),
  } as unknown as Docker;
  const remove = async (id: string) => {
    there.delete(id);
    removed.push(id);
  };
  const workspaces = {
    create(_base, _signal, id = 'nobody told') {
      const { promise, resolve, reject } = Promise.withResolvers<Workspace>();
      there.add(id);
      const workspace = { id, mount: { kind: 'bind', dir: '/x' }, remove: () => remove(id) };
      making.push({
        id,
        end: async () => resolve(workspace as unknown as Workspace),
        fail: async () => reject(new Error('no workspace')),
      });
      return promise;
    },
    all: async () => [...there].map((id) => ({ id, worker: id.slice(0, id.indexOf('@')) })),
    remove,
  } as Partial<Workspaces> as Workspaces;
  const { open, inUse } = createSandboxOpener({
    ...{ engine: { requests: docker, streams: docker } as Engine, workspaces, hosts, log },
    ...{ config: sandboxConfigSchema.parse({}), instance: 'i', worker: 'me', user: { uid: 1, gid: 1 } },
  });
  const egress = { all: async () => [] } as Partial<Egress> as Egress;
  const from = { docker, instance: 'i', worker: 'me', inUse, workspaces, visitorsDir: '/none', egress, log };
  const begin = () => {
    const opening = open({ snapshot: '/none' }, never);
    opening.catch(() => {});
    return opening;
  };
  return {
    ...{ making, there, removed, begin },
    reap: () => reap(from, async () => false),
    /** Until then the engine does not say which containers there are: the reaper knows the workspaces. */
    holdEngine: (until: Promise<unknown>) => {
      answers = until;
    },
  };
}

it('what a worker left is removed while it makes others, once it is known how they are made', async () => {
  const at = setting();
  at.there.add('me@left');
  const first = at.begin();
  await expect.poll(() => at.making.length).toBe(1);
  // The ways that are tried first leave things of names that nobody knows.
  expect(await at.reap()).toEqual({ containers: 0, workspaces: 0 });
  await at.making[0]?.end();
  await expect(first).rejects.toThrow('the engine starts nothing');
  const second = at.begin();
  await expect.poll(() => at.making.length).toBe(2);
  at.removed.length = 0;
  expect(await at.reap()).toEqual({ containers: 0, workspaces: 1 });
  expect({ removed: at.removed, there: [...at.there] }).toEqual({
    removed: ['me@left'],
    there: [at.making[1]?.id],
  });
  // One that could not be made is no longer anybody's.
  await at.making[1]?.fail();
  await expect(second).rejects.toThrow('no workspace');
  expect(await at.reap()).toEqual({ containers: 0, workspaces: 1 });
});

it('what goes by itself while the reaper looks is not called left', async () => {
  const at = setting();
  const opening = at.begin();
  await expect.poll(() => at.making.length).toBe(1);
  await at.making[0]?.end();
  await expect(opening).rejects.toThrow();
  const other = at.begin();
  await expect.poll(() => at.making.length).toBe(2);
  const held = Promise.withResolvers<void>();
  at.holdEngine(held.promise);
  const reaping = at.reap();
  await at.making[1]?.end();
  await expect(other).rejects.toThrow();
  held.resolve();
  expect(await reaping).toEqual({ containers: 0, workspaces: 0 });
});
