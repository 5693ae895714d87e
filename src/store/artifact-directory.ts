import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ArtifactStore } from './port/artifacts.ts';

/** Artifacts in a directory, each under the SHA-256 of its content: writing the same twice costs nothing. */
export function createArtifactDirectory(dir: string): ArtifactStore {
  const placeOf = (digest: string) => {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error(`not a SHA-256 digest: ${digest}`);
    return join(dir, digest.slice(0, 2), digest);
  };
  return {
    put: async (name, content, mediaType) => {
      const bytes = Buffer.from(content);
      const digest = createHash('sha256').update(bytes).digest('hex');
      const place = placeOf(digest);
      const known = await stat(place).catch(() => null);
      if (known?.size !== bytes.length) {
        await mkdir(dirname(place), { recursive: true });
        const making = `${place}.${randomUUID()}`;
        try {
          await write(making, bytes);
          await rename(making, place);
        } catch (error) {
          // A full disk would be filled further by every try.
          await rm(making, { force: true });
          throw error;
        }
      }
      return { name, digest, bytes: bytes.length, mediaType };
    },
    get: async (digest) => {
      const content = await readFile(placeOf(digest)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (content === null) return null;
      if (createHash('sha256').update(content).digest('hex') !== digest)
        throw new Error(`artifact ${digest} is corrupt on disk`);
      return content;
    },
  };
}

async function write(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o640);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
