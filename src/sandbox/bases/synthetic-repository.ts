import { chown, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { PatchfleetError } from '../../domain/failure.ts';
import { ownAuthor } from '../../domain/own-commit.ts';
import type { SandboxUser } from '../container/container-spec.ts';
import { closedGit, git, type TreeEntry } from './mirror-reader.ts';

/** Files were written raw, so git must compare them raw, whatever .gitattributes says. This file has the last word. */
const rawAttributes = '* -text !eol -ident -filter -working-tree-encoding\n';

/**
 * Makes `gitDir`, a repository of one commit with the entries given, whose index matches it, and gives its tree.
 * Plumbing alone: no
 * worktree is looked at, no hook or configuration of anybody's takes part. Nothing on the host reads it later.
 */
export async function makeSyntheticRepository(
  gitDir: string,
  mirrorDir: string,
  entries: readonly TreeEntry[],
  signal: AbortSignal,
): Promise<string> {
  await execa(
    'git',
    [
      'init',
      '--quiet',
      '--bare',
      '--template=',
      '--initial-branch=main',
      `--object-format=${formatOf(entries)}`,
      gitDir,
    ],
    {
      ...closedGit,
      stdin: 'ignore',
      cancelSignal: signal,
    },
  ).catch((thrown: unknown) => {
    signal.throwIfAborted();
    throw new PatchfleetError('git_failed', 'git init of a snapshot', { cause: thrown });
  });
  await git(gitDir, ['config', 'core.bare', 'false'], signal);
  await mkdir(join(gitDir, 'info'), { recursive: true });
  await writeFile(join(gitDir, 'info', 'attributes'), rawAttributes);

  const blobs = new Set(entries.filter(({ mode }) => mode !== '160000').map(({ oid }) => oid));
  if (blobs.size > 0) {
    await mkdir(join(gitDir, 'objects', 'pack'), { recursive: true });
    // By the new repository, to whose file system the mirror need not belong, and which goes with what a death leaves
    // in it. window 0: the mirror's deltas are used again, new ones are not searched for.
    await git(
      gitDir,
      ['-c', 'pack.threads=1', 'pack-objects', '-q', '--window=0', join(gitDir, 'objects', 'pack', 'pack')],
      signal,
      `${[...blobs].join('\n')}\n`,
      { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(mirrorDir, 'objects')) },
    );
  }
  const lines = entries.map(({ mode, oid, path }) =>
    Buffer.concat([Buffer.from(`${mode} ${oid}\t`), path, Buffer.from([0])]),
  );
  await git(gitDir, ['update-index', '-z', '--index-info'], signal, Buffer.concat(lines));
  const tree = text(await git(gitDir, ['write-tree'], signal));
  const commit = text(await git(gitDir, ['commit-tree', tree, '-m', 'Snapshot'], signal, null, ownAuthor));
  await git(gitDir, ['update-ref', 'refs/heads/main', commit], signal);
  await rm(join(gitDir, 'description'), { force: true });
  return tree;
}

/**
 * Lets the index of a tree know the files as they lie on the disk, so that git in a sandbox need not read them to
 * know that nothing has changed: what it goes by (inode, size, times, owner) is the same through an overlay. A copy of
 * it, `patchfleet-<tree>.index`, is for execution/workspace-patch.ts, whatever an agent does to the other. For files that
 * the host has just written and nobody else has seen.
 */
export async function refreshIndex(
  root: string,
  tree: string,
  user: SandboxUser,
  signal: AbortSignal,
): Promise<void> {
  const gitDir = join(root, '.git');
  const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.attributesFile=/dev/null'];
  await git(
    gitDir,
    [
      `--work-tree=${root}`,
      ...settings.flatMap((setting) => ['-c', setting]),
      'update-index',
      '-q',
      '--really-refresh',
    ],
    signal,
  );
  const index = join(gitDir, 'index');
  const copy = join(gitDir, `patchfleet-${tree}.index`);
  await copyFile(index, copy);
  if (process.getuid?.() !== 0) return;
  for (const file of [index, copy]) await chown(file, user.uid, user.gid);
}

/** As git reads a path in a list that is cut at colons. */
const quoted = (path: string) => `"${path.replaceAll(/[\\"]/g, '\\$&')}"`;

const text = (bytes: Buffer) => bytes.toString('utf8').trim();

function formatOf(entries: readonly TreeEntry[]): string {
  return entries[0]?.oid.length === 64 ? 'sha256' : 'sha1';
}
