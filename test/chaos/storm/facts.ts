/** What was found when all was over: of GitHub, of the rows, of what runs. */

export interface StormFacts {
  /** In the order of the asked tasks. */
  readonly tasks: readonly TaskFacts[];
  readonly published: Published;
  readonly sandboxes: readonly string[];
}

/** Of one task that was asked for. */
export interface TaskFacts {
  /** Rows of `tasks` that it led to. */
  readonly rows: readonly { id: string; phase: string; outcome: string | null; failure: string | null }[];
  readonly subtasks: readonly { kind: string; title: string; status: string; failure: string | null }[];
  /** The expected files as the head of its pull request has them. */
  readonly files: Readonly<Record<string, string | null>>;
}

/** Everything that our app has on GitHub. */
export interface Published {
  readonly checkRuns: readonly {
    repository: string;
    headSha: string;
    status: string;
    conclusion: string | null;
    annotations: readonly string[];
  }[];
  /** `places`: of its inline comments, `path:line`. */
  readonly reviews: readonly { repository: string; number: number; places: readonly string[] }[];
  readonly comments: readonly { repository: string; number: number; marker: string }[];
  readonly pulls: readonly { repository: string; number: number; headRef: string }[];
  /** Without `refs/heads/`. */
  readonly branches: readonly { repository: string; name: string }[];
}
