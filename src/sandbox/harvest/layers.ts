import { lstat } from 'node:fs/promises';
import { PatchfleetError } from '../../domain/failure.ts';
import { keyOf, lookAt, namesIn, type Seen } from './directory.ts';

/** Directories laid over each other: the first lies on top. They hold no marks of an overlay. */

/** What shows of a stack of layers, by their roots. */
export interface Shown extends Seen {
  readonly layer: Buffer;
  /** Of a directory, the layers that show in it. */
  readonly within: readonly Buffer[];
}

/** What shows by a name in a directory, of whose layers those given show there. */
export async function lookThrough(
  layers: readonly Buffer[],
  path: Buffer,
  name: Buffer,
): Promise<Shown | undefined> {
  let top: (Seen & { readonly layer: Buffer }) | undefined;
  const within: Buffer[] = [];
  for (const layer of layers) {
    const seen = await lookAt(layer, path, name);
    if (seen === undefined) continue;
    top ??= { ...seen, layer };
    // What is no directory hides what lies below it, and does not show below one.
    if (!seen.stats.isDirectory()) break;
    within.push(layer);
  }
  return top === undefined ? undefined : { ...top, within };
}

/** The names that show in a directory. */
export async function namesThrough(layers: readonly Buffer[], path: Buffer): Promise<Buffer[]> {
  const names = new Map<string, Buffer>();
  for (const layer of layers) {
    for (const { name } of await namesIn(layer, path)) names.set(keyOf(name), name);
  }
  return [...names.values()];
}

/**
 * Does what compares with layers. They must be the same directories when it begins and when it has ended, else this
 * fails with `sandbox_died`: without them everything would look new, and nothing removed.
 */
export async function whileTheyStand<T>(layers: readonly Buffer[], work: () => Promise<T>): Promise<T> {
  const before = await identitiesOf(layers);
  const [done] = await Promise.allSettled([work()]);
  if ((await identitiesOf(layers)) !== before) throw moved();
  if (done.status === 'rejected') throw done.reason;
  return done.value;
}

async function identitiesOf(layers: readonly Buffer[]): Promise<string> {
  const seen = await Promise.all(layers.map((layer) => lstat(layer, { bigint: true }))).catch(
    (thrown: NodeJS.ErrnoException) => {
      throw thrown.code === 'ENOENT' ? moved(thrown) : thrown;
    },
  );
  return seen.map(({ dev, ino, ctimeNs }) => `${dev}:${ino}:${ctimeNs}`).join();
}

const moved = (cause?: unknown) =>
  new PatchfleetError('sandbox_died', 'what its workspace was made of is gone, or is another now', { cause });
