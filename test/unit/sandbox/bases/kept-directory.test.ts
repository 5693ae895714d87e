import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  createKeeper,
  isAsMade,
  noteEveryMs,
  putAside,
  standsAsMade,
  treeOf,
} from '../../../../src/sandbox/bases/kept-directory.ts';
import { makeKept } from '../../../../src/sandbox/bases/make-kept.ts';
import { removeTree } from '../../../../src/sandbox/remove-tree.ts';

let home: string;
const signal = new AbortController().signal;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'patchfleet-kept-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await removeTree(home);
});

async function make(place: string): Promise<void> {
  await mkdir(treeOf(place), { recursive: true });
  await writeFile(join(place, 'used'), '');
  await utimes(join(place, 'used'), 1, 1);
}

it('makes anew what was taken away between its making and its use', async () => {
  const place = join(home, 'one');
  let made = 0;
  const settle = async () => {
    made += 1;
    await make(place);
    // Another process makes room.
    if (made === 1) await rm(place, { recursive: true });
  };
  expect(await createKeeper()(place, signal, settle)).toBe(treeOf(place));
  expect(made).toBe(2);
});

it('sees to a directory once, and says at each use that it is used', async () => {
  const place = join(home, 'one');
  let made = 0;
  const settle = async () => {
    made += 1;
    await make(place);
  };
  const keep = createKeeper();
  await Promise.all([keep(place, signal, settle), keep(place, signal, settle)]);
  await utimes(join(place, 'used'), 1, 1);
  await keep(place, signal, settle);
  expect(made).toBe(1);
  expect((await stat(join(place, 'used'))).mtimeMs).toBeGreaterThan(1000);
});

it('says that a directory is used before it looks at it, which may take long', async () => {
  const place = join(home, 'one');
  await make(place);
  let usedAt = 0;
  await createKeeper()(place, signal, async () => {
    usedAt = (await stat(join(place, 'used'))).mtimeMs;
  });
  expect(usedAt).toBeGreaterThan(1000);
});

it('says every minute that something is being made, and leaves nothing of it where that fails', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const making = makeKept(join(home, 'one'), signal, async (temporary) => {
    await mkdir(treeOf(temporary), { recursive: true });
    await utimes(temporary, 1, 1);
    vi.advanceTimersByTime(noteEveryMs);
    await expect.poll(async () => (await stat(temporary)).mtimeMs).toBeGreaterThan(1000);
    throw new Error('no luck');
  });
  await expect(making).rejects.toThrow('no luck');
  expect({ left: await readdir(home), timers: vi.getTimerCount() }).toEqual({ left: [], timers: 0 });
});

it('takes what somebody emptied for what is not as it was made, and makes room for another', async () => {
  const place = join(home, 'one');
  const makeIt = () =>
    makeKept(place, signal, async (temporary) => void (await mkdir(treeOf(temporary), { recursive: true })));
  await makeIt();
  expect(await isAsMade(place, signal)).toBe(true);
  await rm(treeOf(place), { recursive: true });
  const others: string[] = [];
  expect(await standsAsMade(place, signal, () => others.push(place))).toBe(false);
  await makeIt();
  expect({ others, good: await isAsMade(place, signal) }).toEqual({ others: [place], good: true });
});

it('knows a tree of any depth, whose paths together are longer than what a program may answer', async () => {
  const place = join(home, 'one');
  const dig = `process.chdir(process.argv[1]); const name = 'd'.repeat(250);
      for (let level = 0; level < 950; level += 1) { fs.mkdirSync(name); process.chdir(name); }`;
  await makeKept(place, signal, async (temporary) => {
    await mkdir(treeOf(temporary), { recursive: true });
    await execa(process.execPath, ['-e', dig, treeOf(temporary)]);
  });
  expect(await isAsMade(place, signal)).toBe(true);
});

it('lets those who have more to make it with try for themselves', async () => {
  const place = join(home, 'one');
  const keep = createKeeper();
  const small = keep(place, signal, () => Promise.reject(new Error('too small')), '1024');
  const large = keep(place, signal, () => make(place), '2048');
  expect(await Promise.allSettled([small, large])).toEqual([
    { status: 'rejected', reason: new Error('too small') },
    { status: 'fulfilled', value: treeOf(place) },
  ]);
});

it('gives up with the reason of whoever asked', async () => {
  const gone = new AbortController();
  const settle = async () => gone.abort(new Error('enough'));
  await expect(createKeeper()(join(home, 'one'), gone.signal, settle)).rejects.toThrow('enough');
});

it('does not mind that another process has put a bad directory aside', async () => {
  await expect(putAside(join(home, 'one'), signal)).resolves.toBeUndefined();
});
