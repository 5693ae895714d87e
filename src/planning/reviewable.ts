import type { AgentConfig } from '../config/agent-config.ts';
import type { FileChange } from '../domain/change.ts';

/** What can be reviewed at all, and by whom. */

/** First line of a Git LFS pointer: the real content is not in git. */
const lfsPointer = 'version https://git-lfs.github.com/spec/v1';

/** Why nobody reviews the file, in words for the summary; null where it is reviewed. */
export function whyNotReviewed(
  change: FileChange,
  ignored: (path: string) => boolean,
  bytes: number,
  maxBytes: number,
): string | null {
  if (ignored(change.path)) return 'ignored by review.ignore';
  if (change.status === 'type_changed') return 'its type changed (file to link or back)';
  if (change.binary) return 'binary file';
  if (isLfsPointer(change)) return 'kept in Git LFS';
  if (change.hunks.length === 0) return whyEmpty(change);
  if (bytes > maxBytes) return `larger than ${Math.floor(maxBytes / 1024)} KiB`;
  return null;
}

/** Commands read files of the workspace: a deleted one is not there, and a link may lead anywhere. */
export function suits(kind: AgentConfig['kind'], change: FileChange): boolean {
  return kind === 'model' || (change.status !== 'deleted' && change.newMode !== '120000');
}

function isLfsPointer(change: FileChange): boolean {
  const first = change.hunks[0];
  return (
    first?.lines.some((line) => (line.newLine === 1 || line.oldLine === 1) && line.text === lfsPointer) ===
    true
  );
}

function whyEmpty(change: FileChange): string {
  if (change.oldMode !== change.newMode && (change.status === 'modified' || change.status === 'renamed')) {
    return 'only its mode changed';
  }
  if (change.status === 'renamed' || change.status === 'copied') return `${change.status} without an edit`;
  return 'empty file';
}
