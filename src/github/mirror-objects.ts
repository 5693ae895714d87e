import { isUtf8 } from 'node:buffer';
import type { ListedFile } from '../domain/result-key.ts';
import { requireSha } from './mirror-fetch.ts';
import { runGit } from './run-git.ts';

/** Listing of a tree, bytes: enough for half a million files. */
const maxTreeBytes = 64 * 1024 * 1024;

export async function listTree(gitDir: string, commit: string): Promise<string[]> {
  const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', requireSha(commit)];
  const { stdout } = await runGit(args, { gitDir, maxBytes: maxTreeBytes });
  return splitNul(stdout)
    .filter((path) => isUtf8(path))
    .map(String);
}

export async function filesOf(gitDir: string, commit: string): Promise<ListedFile[]> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', requireSha(commit)];
  const { stdout } = await runGit(args, { gitDir, maxBytes: maxTreeBytes });
  return splitNul(stdout).flatMap((record) => {
    const tab = record.indexOf(0x09);
    const [mode = '', , blob = ''] = record.toString('latin1', 0, tab).split(' ');
    const path = record.subarray(tab + 1);
    return isUtf8(path) ? [{ path: path.toString(), mode, blob }] : [];
  });
}

export async function blobSizes(gitDir: string, blobs: readonly string[]): Promise<Map<string, number>> {
  if (blobs.length === 0) return new Map();
  const { stdout } = await runGit(['cat-file', '--batch-check=%(objectname) %(objectsize)'], {
    gitDir,
    input: `${blobs.map(requireSha).join('\n')}\n`,
  });
  const sizes = new Map<string, number>();
  for (const line of stdout.toString('latin1').split('\n')) {
    const [blob = '', size = ''] = line.split(' ');
    if (/^\d+$/.test(size)) sizes.set(blob, Number(size));
  }
  return sizes;
}

/** Null where `path` is no blob of that commit, or is larger than `maxBytes`. */
export async function readBlob(
  gitDir: string,
  commit: string,
  path: string,
  maxBytes: number,
): Promise<Buffer | null> {
  // No tree holds such names, but git would resolve them.
  if (path.includes('\0') || path.split('/').some((part) => ['', '.', '..'].includes(part))) return null;
  // ls-tree takes paths literally, byte for byte, and looks nowhere but in that tree.
  const args = ['ls-tree', '-z', '-l', '--full-tree', requireSha(commit), '--', path];
  const { stdout } = await runGit(args, { gitDir });
  for (const record of splitNul(stdout)) {
    const tab = record.indexOf(0x09);
    const [, type = '', blob = '', size = ''] = record.toString('latin1', 0, tab).split(/ +/);
    if (record.toString('utf8', tab + 1) !== path || type !== 'blob') continue;
    if (Number(size) > maxBytes) return null;
    return (await runGit(['cat-file', 'blob', requireSha(blob)], { gitDir, maxBytes: maxBytes + 1 })).stdout;
  }
  return null;
}

/** Records that each end with a NUL; what follows the last one is dropped. */
export function splitNul(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    if (end === -1) break;
    parts.push(bytes.subarray(at, end));
    at = end + 1;
  }
  return parts;
}
