import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { overlayOptions } from './overlay-mount.ts';
import { type OnceOptions, runOnce } from './run-once.ts';
import { createVolumeRemover, volumeName } from './workspace-volumes.ts';
import { workspaceId } from './workspaces.ts';

/**
 * Empties the kernel's own directory of a workspace that the engine mounted, for a worker that is not root: what is in
 * it is root's. The kernel does so when the directory is mounted again, over whatever.
 */
export async function cleanWork(options: OnceOptions, dir: string): Promise<void> {
  const id = workspaceId(options.worker, randomBytes(8).toString('hex'));
  const places = { lower: join(dir, 'empty'), upper: join(dir, 'upper'), work: join(dir, 'work') };
  for (const place of [places.lower, places.upper]) await mkdir(place, { recursive: true });
  const o = overlayOptions([places.lower], places.upper, places.work);
  const mount = { type: 'overlay', device: 'overlay', o };
  try {
    await runOnce(options, { kind: 'volume', name: volumeName(id), options: mount }, ['/bin/true']);
  } finally {
    await createVolumeRemover(options.engine.requests, options.instance)(id);
  }
}
