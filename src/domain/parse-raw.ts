import type { ChangeStatus } from './change.ts';
import { PatchfleetError } from './failure.ts';

/** One record of `git diff --raw -z`: paths as bytes, because git's paths need not be UTF-8. */
export interface RawEntry {
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldBlob: string;
  readonly newBlob: string;
  readonly status: ChangeStatus;
  readonly path: Buffer;
  /** Set for renames and copies. */
  readonly oldPath: Buffer | null;
}

const statuses: Readonly<Record<string, ChangeStatus>> = {
  A: 'added',
  C: 'copied',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  T: 'type_changed',
};

const header = /^:(\d{6}) (\d{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([A-Z])\d*$/;

/**
 * The records at the start of `output`, and the offset where they end (that of the patch, for
 * `git diff --raw --patch -z`, which puts one more NUL between the two).
 */
export function parseRaw(output: Buffer): { entries: RawEntry[]; end: number } {
  const entries: RawEntry[] = [];
  let at = 0;
  const field = (): Buffer => {
    const end = output.indexOf(0, at);
    if (end === -1) throw unreadable('a record without an end');
    const bytes = output.subarray(at, end);
    at = end + 1;
    return bytes;
  };
  while (output[at] === 0x3a) {
    const text = field().toString('latin1');
    const match = header.exec(text);
    const [, oldMode = '', newMode = '', oldBlob = '', newBlob = '', letter = ''] = match ?? [];
    const status = statuses[letter];
    if (status === undefined) throw unreadable(`the record ${JSON.stringify(text.slice(0, 120))}`);
    const first = field();
    const moved = status === 'renamed' || status === 'copied';
    const path = moved ? field() : first;
    entries.push({ oldMode, newMode, oldBlob, newBlob, status, path, oldPath: moved ? first : null });
  }
  if (output[at] === 0) at += 1;
  return { entries, end: at };
}

/** Git printed something this parser does not know: never guessed at. */
export function unreadable(what: string): PatchfleetError {
  return new PatchfleetError('internal', `the output of git diff could not be read: ${what}`);
}
