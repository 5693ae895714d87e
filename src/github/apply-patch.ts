import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { requireSha } from './mirror-fetch.ts';
import { makeIndexDirectory } from './mirror-writer-tree.ts';
import { runGit } from './run-git.ts';

/**
 * Tree of `base` with a patch of ours (`patchText`) applied, in an index of its own and without a work tree.
 * `git_failed` where it does not apply exactly, and for an empty file or a change of mode below a directory whose
 * name ends with a blank: git cannot read the header that it writes for those.
 */
export async function applyPatch(gitDir: string, base: string, patch: Uint8Array): Promise<string> {
  const home = await makeIndexDirectory(gitDir);
  try {
    const options = { gitDir, env: { GIT_INDEX_FILE: join(home, 'index') } };
    await runGit(['read-tree', `${requireSha(base)}^{tree}`], options);
    if (patch.length > 0) {
      await runGit(['apply', '--cached', '--whitespace=nowarn', '-'], {
        ...options,
        input: Buffer.from(patch),
      });
    }
    const { stdout } = await runGit(['write-tree'], options);
    return requireSha(stdout.toString('latin1').trim());
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
