import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { PatchfleetError } from '../../domain/failure.ts';
import { hostCommand } from '../host-command.ts';
import { removeTree } from '../remove-tree.ts';
import { reserveOf, tooFull } from '../workspaces/disk-bounds.ts';
import { roomOf } from '../workspaces/disk-watch.ts';
import {
  asideOf,
  digestOf,
  exists,
  type Kept,
  noteEveryMs,
  removeAbandoned,
  touch,
  treeOf,
} from './kept-directory.ts';

/** Removes what can be made again, as far as room is wanted. Never rejects. */
export type MakeRoom = () => Promise<void>;

/**
 * Makes `home`, whose parent is nobody's but the worker's to enter, and removes what dead workers left in it. Fails with
 * `sandbox_unavailable` where the disk is full.
 */
export async function prepareHome(home: string, makeRoom?: MakeRoom): Promise<void> {
  const root = dirname(home);
  await mkdir(root, { recursive: true });
  await chmod(root, 0o700);
  await requireRoom(root, makeRoom);
  await mkdir(home, { recursive: true, mode: 0o700 });
  await removeAbandoned(home);
}

/**
 * Lets `make` make a directory with a `tree`, and brings it to `place`. Where that fails nothing of it is left; what a
 * worker that dies leaves is told by that nobody says any more that it is being made. Fails with `sandbox_unavailable`
 * where the disk gets full by it.
 */
export async function makeKept(
  place: string,
  signal: AbortSignal,
  make: (temporary: string) => Promise<void>,
  makeRoom: MakeRoom = async () => {},
): Promise<void> {
  const temporary = asideOf(place);
  const timer = setInterval(() => void touch(temporary).catch(() => {}), noteEveryMs).unref();
  try {
    await make(temporary);
    await putInPlace(temporary, place, signal);
  } catch (thrown) {
    await removeTree(temporary);
    signal.throwIfAborted();
    throw isForWantOfSpace(thrown) ? diskIsFull('no space was left', thrown) : thrown;
  } finally {
    clearInterval(timer);
    void makeRoom();
  }
}

/**
 * Gives what is to be told of each thing that is written below a directory, with its bytes. Fails with
 * `sandbox_unavailable` rather than let what must stay free of the disk be taken: a small repository can name one large
 * file a million times.
 */
export async function createRoomCheck(
  directory: string,
  makeRoom?: MakeRoom,
): Promise<(bytes: number) => Promise<void>> {
  const kept = reserveOf(await roomOf(directory));
  const step = { bytes: kept.bytes / 2, entries: kept.entries / 2 || Number.POSITIVE_INFINITY };
  let since = { bytes: 0, entries: 0 };
  return async (bytes) => {
    since = { bytes: since.bytes + bytes, entries: since.entries + 1 };
    if (since.bytes < step.bytes && since.entries < step.entries) return;
    since = { bytes: 0, entries: 0 };
    await requireRoom(directory, makeRoom);
  };
}

async function requireRoom(directory: string, makeRoom: MakeRoom = async () => {}): Promise<void> {
  if (tooFull(await roomOf(directory)) === null) return;
  await makeRoom();
  const full = tooFull(await roomOf(directory));
  if (full !== null) throw diskIsFull(full);
}

/** As the kernel says it to us, to git and to other programs of the host; what ran in a sandbox may say what it likes. */
function isForWantOfSpace(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if (thrown instanceof PatchfleetError && thrown.code !== 'git_failed') return false;
  return /ENOSPC|EDQUOT|No space left on device|Out of diskspace|Disk quota exceeded/.test(thrown.message);
}

const diskIsFull = (why: string, cause?: unknown) =>
  new PatchfleetError('sandbox_unavailable', `the disk of snapshots and dependencies is too full: ${why}`, {
    cause,
  });

/**
 * Brings `temporary`, whose `tree` is complete, to `place`: what it is is noted, and everything is on the disk before
 * it has its name. Where another process was faster its directory stays, and this one is removed.
 */
async function putInPlace(temporary: string, place: string, signal: AbortSignal): Promise<void> {
  const options = { ...hostCommand, cancelSignal: signal } as const;
  const { stdout } = await execa('du', ['-s', '--block-size=1', '--', temporary], options);
  const kept: Kept = {
    format: 2,
    digest: await digestOf(treeOf(temporary), signal),
    bytes: Number(stdout.split('\t')[0]),
  };
  await writeFile(join(temporary, 'kept.json'), `${JSON.stringify(kept)}\n`);
  await writeFile(join(temporary, 'used'), '');
  await execa('sync', ['--file-system', '--', temporary], options);
  try {
    await rename(temporary, place);
  } catch (thrown) {
    if (!(await exists(treeOf(place)))) throw thrown;
    await removeTree(temporary);
  }
}
