/** Everything that was asked of the double, in the order it arrived. No secret is kept. */

export interface JournalEntry {
  readonly sequence: number;
  readonly method: string;
  /** As asked, with the query. */
  readonly path: string;
  /** `POST /repos/{owner}/{repo}/check-runs`, `git upload-pack`, or null where there is no such route. */
  readonly route: string | null;
  /** The repository's full name where the request is about one. */
  readonly repository: string | null;
  readonly body: unknown;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly caller: {
    readonly kind: string;
    readonly installationId: number | null;
    readonly tokenId: number | null;
  };
  /** True for requests that would change something on GitHub; asking for a token is none. */
  readonly write: boolean;
  /** True once the write took effect, whether or not it was answered. */
  readonly applied: boolean;
  /** Null while unanswered; stays so where the connection was dropped. */
  readonly status: number | null;
}

export type OpenEntry = { -readonly [K in keyof JournalEntry]: JournalEntry[K] };

export interface Journal {
  readonly entries: readonly JournalEntry[];
  open(entry: Omit<JournalEntry, 'sequence' | 'at' | 'status' | 'applied'>): OpenEntry;
}

export function openJournal(): Journal {
  const entries: OpenEntry[] = [];
  return {
    entries,
    open(entry) {
      const opened: OpenEntry = {
        ...entry,
        sequence: entries.length + 1,
        at: Date.now(),
        status: null,
        applied: false,
      };
      entries.push(opened);
      return opened;
    },
  };
}
