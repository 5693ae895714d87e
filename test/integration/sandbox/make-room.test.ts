import { mkdtempSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { holdingBases } from '../../../src/sandbox/bases/hold-bases.ts';
import { asideOf, noteEveryMs, putAside, treeOf } from '../../../src/sandbox/bases/kept-directory.ts';
import { makeKept } from '../../../src/sandbox/bases/make-kept.ts';
import { createRoomMaker } from '../../../src/sandbox/bases/make-room.ts';
import { removeTree } from '../../../src/sandbox/remove-tree.ts';
import type { Workspaces } from '../../../src/sandbox/workspaces/workspaces.ts';

const signal = new AbortController().signal;
const mib = 1024 * 1024;
const minute = 60_000;
let home: string;
let at = 0;
let dirs: string[];
let workspacesDir: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'patchfleet-room-'));
});
beforeEach(() => {
  at += 1;
  dirs = [join(home, String(at), 'snapshots'), join(home, String(at), 'prepared')];
  workspacesDir = join(home, String(at), 'workspaces');
});
afterEach(() => void vi.useRealTimers());
afterAll(() => removeTree(home));

/** A directory of 1 MiB that was used so many minutes ago. */
async function make(dir: string, repository: string, name: string, minutesAgo: number): Promise<string> {
  const place = join(dir, repository, name);
  await makeKept(place, signal, async (temporary) => {
    await mkdir(treeOf(temporary), { recursive: true });
    await writeFile(join(treeOf(temporary), 'file'), Buffer.alloc(mib, 'x'));
  });
  setUsed(place, minutesAgo);
  return place;
}
function setUsed(place: string, minutesAgo: number) {
  const used = new Date(Date.now() - minutesAgo * minute);
  utimesSync(join(place, 'used'), used, used);
}
const left = () =>
  dirs.map((dir) => readdirSync(dir).flatMap((repository) => readdirSync(join(dir, repository)).toSorted()));
const warnings: object[] = [];
/** MiB that are free of 1000, of which 50 are kept for work to begin. */
let freeMib = () => 500;
afterEach(() => {
  freeMib = () => 500;
});
const roomFor = (bytes: number) =>
  createRoomMaker({
    ...{ dirs, bytes, workspacesDir, log: { warn: (fields) => void warnings.push(fields) } },
    room: async () => ({
      size: { bytes: 1000 * mib, entries: 0 },
      free: { bytes: freeMib() * mib, entries: 0 },
    }),
  });

it('removes what was used least recently, of whatever kind and repository, until the rest fits', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  await make(snapshots, '1', 'a', 500);
  await make(snapshots, '2', 'b', 30);
  await make(prepared, '1', 'c', 400);
  await make(prepared, '2', 'd', 300);
  await roomFor(3.9 * mib)();
  expect(left()).toEqual([['b'], ['c', 'd']]);
  await roomFor(1.5 * mib)();
  expect(left()).toEqual([['b'], []]);
  // Within the bound nothing goes, however old.
  await roomFor(1.5 * mib)();
  expect(left()).toEqual([['b'], []]);
});

it('leaves what was used a short time ago, though there is no room', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  await make(snapshots, '1', 'a', 9);
  await make(prepared, '1', 'b', 11);
  await roomFor(0)();
  expect(left()).toEqual([['a'], []]);
});

it('removes what was used least recently, though it is within the bound, where the disk runs low', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  await make(snapshots, '1', 'a', 500);
  await make(snapshots, '1', 'b', 5);
  await make(prepared, '1', 'c', 400);
  await make(prepared, '1', 'd', 300);
  // Twice what is kept would be there if one of them went, then never again.
  freeMib = () => 103 - left().flat().length;
  await roomFor(100 * mib)();
  expect(left()).toEqual([['b'], ['c', 'd']]);
  freeMib = () => 10;
  await roomFor(100 * mib)();
  expect(left()).toEqual([['b'], []]);
});

it('counts what was put aside, and what is made once it is made, but not what is on its way', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  await make(snapshots, '1', 'a', 500);
  await make(snapshots, '1', 'b', 400);
  await make(prepared, '1', 'c', 300);
  const makeRoom = roomFor(3.9 * mib);
  const write = async (temporary: string) => {
    await mkdir(treeOf(temporary), { recursive: true });
    await writeFile(join(treeOf(temporary), 'file'), Buffer.alloc(mib, 'x'));
    await makeRoom();
    expect(left()).toEqual([
      ['a', 'b'],
      [expect.stringMatching(/^\.tmp-/), 'c'],
    ]);
  };
  await makeKept(join(prepared, '1', 'd'), signal, write, makeRoom);
  await expect.poll(left).toEqual([['b'], ['c', 'd']]);

  const damaged = join(prepared, '1', 'd');
  writeFileSync(join(damaged, 'kept.json'), 'damaged');
  await putAside(damaged, signal);
  await roomFor(2.9 * mib)();
  expect(left()).toEqual([[], [expect.stringMatching(/^\.old-/), 'c']]);
});

it('removes what nobody knows any more, though there is room: an older layout, and what was not used for long', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  const place = await make(snapshots, '1', 'a', 1);
  const damaged = await make(snapshots, '1', 'b', 1);
  await mkdir(prepared, { recursive: true });
  const old = join(snapshots, '1', 'old');
  await mkdir(treeOf(old), { recursive: true });
  const twoDaysAgo = new Date(Date.now() - 48 * 60 * minute);
  utimesSync(old, twoDaysAgo, twoDaysAgo);
  await mkdir(treeOf(asideOf(place)), { recursive: true });
  writeFileSync(join(treeOf(damaged), 'file'), 'damaged');
  await putAside(damaged, signal);
  writeFileSync(join(snapshots, 'stray'), 'no directory');
  const names = () =>
    readdirSync(join(snapshots, '1'))
      .map((name) => name.slice(0, 5))
      .toSorted();

  const makeRoom = roomFor(100 * mib);
  await makeRoom();
  expect(names()).toEqual(['.old-', '.tmp-', 'a']);
  // Whoever makes something says so every minute; who still reads what was put aside has a day.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * minute });
  await makeRoom();
  expect(names()).toEqual(['.old-', 'a']);
  vi.setSystemTime(Date.now() + 25 * 60 * minute);
  await makeRoom();
  expect(names()).toEqual(['a']);
  expect(warnings).toEqual([]);
});

it('leaves what a workspace stands on, though the clock says that it was not used for long', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  const snapshot = await make(snapshots, '1', 'a', 500);
  await make(snapshots, '1', 'b', 400);
  const layer = await make(prepared, '1', 'c', 300);
  const workspace = join(workspacesDir, 'worker@0');
  await mkdir(workspace, { recursive: true });
  // As every overlay has them.
  await symlink(treeOf(snapshot), join(workspace, 'lower0'));
  await symlink(treeOf(layer), join(workspace, 'lower1'));
  await roomFor(0)();
  expect(left()).toEqual([['a'], ['c']]);
  await removeTree(workspace);
  await roomFor(0)();
  expect(left()).toEqual([[], []]);
});

it.runIf(process.getuid?.() === 0)('says what cannot be removed, and goes on with the rest', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  const place = await make(snapshots, '1', 'a', 500);
  await make(prepared, '1', 'b', 500);
  const held = asideOf(place);
  await mkdir(treeOf(held), { recursive: true });
  // What is mounted in it is not entered.
  await execa('mount', ['-t', 'tmpfs', 'none', treeOf(held)]);
  try {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * minute });
    await roomFor(0)();
    expect(warnings.splice(0)).toEqual([{ err: expect.any(Error), directory: held }]);
    expect(left()).toEqual([[held.split('/').at(-1)], []]);
  } finally {
    await execa('umount', [treeOf(held)]);
  }
});

it('several at once agree', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  await mkdir(prepared, { recursive: true });
  for (let nth = 0; nth < 8; nth += 1) await make(snapshots, '1', `s${nth}`, 100 + nth);
  const makers = [roomFor(4.1 * mib), roomFor(4.1 * mib), roomFor(4.1 * mib)];
  await Promise.all(makers.map((makeRoom) => makeRoom()));
  expect(left()).toEqual([['s0', 's1', 's2', 's3'], []]);
});

it('workspaces say every minute what they stand on, as long as they are there', async () => {
  const [snapshots = '', prepared = ''] = dirs;
  const snapshot = await make(snapshots, '1', 'a', 100);
  const layer = await make(prepared, '1', 'b', 100);
  const remove = vi.fn(async () => {});
  const inner = {
    create: async () => ({ id: 'w', remove }),
    remove,
  } as unknown as Workspaces;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const workspaces = holdingBases(inner);
  const base = { snapshot: treeOf(snapshot), prepared: treeOf(layer) };
  const workspace = await workspaces.create(base, signal);
  await roomFor(0)();
  expect(left()).toEqual([['a'], ['b']]);

  for (const place of [snapshot, layer]) setUsed(place, 11);
  vi.advanceTimersByTime(noteEveryMs);
  // First it must have been noted: otherwise they would go.
  await vi.waitFor(
    () => {
      for (const place of [snapshot, layer])
        expect(Date.now() - statSync(join(place, 'used')).mtimeMs).toBeLessThan(10 * minute);
    },
    { timeout: 60_000 },
  );
  await roomFor(0)();
  expect(left()).toEqual([['a'], ['b']]);

  await workspace.remove();
  expect(vi.getTimerCount()).toBe(0);
  for (const place of [snapshot, layer]) setUsed(place, 11);
  await roomFor(0)();
  expect(left()).toEqual([[], []]);
});
