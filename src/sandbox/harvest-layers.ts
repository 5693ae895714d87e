import type { BigIntStats } from 'node:fs';
import { eachOf, keyOf, lookAt, namesIn, type Seen } from './harvest-directory.ts';

/** Directories laid over each other as the kernel's overlay lays them. */

export interface Layer {
  readonly root: Buffer;
  /** Whether that directory of the layer hides what lies below it. */
  isOpaque(path: Buffer): Promise<boolean>;
}

/** What shows of a stack of layers. */
export interface Shown extends Seen {
  readonly layer: Layer;
  /** Of a directory, the layers that show in it, topmost first. */
  readonly within: readonly Layer[];
}

/** How a layer says that what lies below by this name is gone. */
export const isWhiteout = (stats: BigIntStats): boolean => stats.isCharacterDevice() && stats.rdev === 0n;

/** A plain directory: it hides nothing, for nothing lies below it. */
export const plainLayer = (root: Buffer): Layer => ({ root, isOpaque: async () => false });

/** What shows by a name in a directory, of whose layers only those given show there. */
export async function lookThrough(
  layers: readonly Layer[],
  path: Buffer,
  name: Buffer,
): Promise<Shown | undefined> {
  let top: (Seen & { readonly layer: Layer }) | undefined;
  const within: Layer[] = [];
  for (const layer of layers) {
    const seen = await lookAt(layer.root, path, name);
    if (seen === undefined) continue;
    if (isWhiteout(seen.stats)) break;
    if (!seen.stats.isDirectory()) {
      // Below a directory it does not show.
      top ??= { ...seen, layer };
      break;
    }
    top ??= { ...seen, layer };
    within.push(layer);
    if (layer !== layers.at(-1) && (await layer.isOpaque(seen.path))) break;
  }
  return top === undefined ? undefined : { ...top, within };
}

/** The names that show in a directory. */
export async function namesThrough(layers: readonly Layer[], path: Buffer): Promise<Buffer[]> {
  const [only] = layers;
  if (only === undefined) return [];
  const names = new Map<string, Buffer>();
  for (const layer of layers) {
    for (const { name } of await namesIn(layer.root, path)) names.set(keyOf(name), name);
  }
  const all = [...names.values()];
  if (layers.length === 1) return all;
  const shown = await eachOf(all, (name) => lookThrough(layers, path, name));
  return shown.flatMap((one) => (one === undefined ? [] : [one.name]));
}
