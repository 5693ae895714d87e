import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenDatabase, openDatabase } from '../../src/store/database.ts';

/** A fresh embedded Postgres with the current schema, in a directory of its own. About one second. */
export async function openTestDatabase(): Promise<
  OpenDatabase & { dataDir: string; [Symbol.asyncDispose](): Promise<void> }
> {
  const dataDir = await mkdtemp(join(tmpdir(), 'patchfleet-test-'));
  await chmod(dataDir, 0o755);
  const database = await openDatabase({ url: undefined, dataDir, onError: () => {} });
  const close = async () => {
    await database.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { ...database, close, dataDir, [Symbol.asyncDispose]: close };
}
