/**
 * The one table of failures. Every error the product raises on purpose carries a code of this table;
 * `docs/errors.md` documents each code and a test keeps the two in step both ways.
 */

/** What the scheduler does with a failure. See docs/errors.md, "Classes". */
export const failureClasses = [
  'transient',
  'too_big',
  'conflict',
  'permanent',
  'budget',
  'security',
] as const;
export type FailureClass = (typeof failureClasses)[number];

interface FailureKind {
  /** How the scheduler treats it. */
  readonly class: FailureClass;
  /** What happened, in plain words: starts a sentence on a page a user reads. */
  readonly title: string;
  /** The next step for the person who reads it. */
  readonly remedy: string;
}

export const failureKinds = {
  config_invalid: {
    class: 'permanent',
    title: 'A configuration file is not valid',
    remedy: 'Correct the lines named; each problem says which value is valid.',
  },
  github_refused: {
    class: 'permanent',
    title: 'GitHub refused the request',
    remedy: 'Check that the app is still installed on the repository with the permissions in app.yml.',
  },
  github_unavailable: {
    class: 'transient',
    title: 'GitHub could not be reached or is limiting requests',
    remedy: 'Nothing to do: it is tried again. See https://www.githubstatus.com if it lasts.',
  },
  git_failed: {
    class: 'transient',
    title: 'A git command on the mirror failed',
    remedy: 'It is tried again; the log names the command and its output.',
  },
  commit_missing: {
    class: 'permanent',
    title: 'The commit under review is no longer on GitHub',
    remedy: 'Push again or comment `/patchfleet review` on the pull request.',
  },
  model_unavailable: {
    class: 'transient',
    title: 'The model answered with an error',
    remedy: 'Check the status of the model provider; comment `/patchfleet review` once it answers again.',
  },
  model_timeout: {
    class: 'transient',
    title: 'The model did not answer in time',
    remedy: 'Comment `/patchfleet review` to try again, or raise `limits.model_call_seconds`.',
  },
  model_refused: {
    class: 'permanent',
    title: 'The model provider refused the request',
    remedy: 'Check the key, the model name and the quota of the channel in patchfleet.yml.',
  },
  model_nonsense: {
    class: 'permanent',
    title: 'The model gave answers that cannot be used',
    remedy: 'Check that the model supports tool calls, or name another one in patchfleet.yml.',
  },
  turns_exhausted: {
    class: 'too_big',
    title: 'The agent used all its turns without finishing',
    remedy: 'Raise `limits.agent_turns`, or let shards be smaller with `limits.shard_complexity`.',
  },
  context_exceeded: {
    class: 'too_big',
    title: 'The shard does not fit the context of the model',
    remedy: 'Let shards be smaller with `limits.shard_complexity`, or choose a model with a larger context.',
  },
  budget_exhausted: {
    class: 'budget',
    title: 'The token budget of the task is used up',
    remedy: 'Raise `limits.task_tokens`, or review fewer files with `review.ignore`.',
  },
  wall_limit: {
    class: 'transient',
    title: 'The attempt ran into its time limit',
    remedy: 'Raise `limits.attempt_seconds`, or let shards be smaller with `limits.shard_complexity`.',
  },
  idle_limit: {
    class: 'transient',
    title: 'The attempt showed no sign of life for too long',
    remedy: 'See the attempt log for its last action; raise `limits.idle_seconds` if that was honest work.',
  },
  task_limit: {
    class: 'permanent',
    title: 'The task ran into its time limit',
    remedy: 'What was done until then is published. Raise `limits.task_seconds`, or ask for less at once.',
  },
  worker_lost: {
    class: 'transient',
    title: 'The worker that ran the attempt died',
    remedy: 'Nothing to do: another worker takes over. If it repeats, look at the memory of the workers.',
  },
  sandbox_unavailable: {
    class: 'transient',
    title: 'A sandbox could not be started',
    remedy: 'Run `patchfleet doctor` on the worker: it checks Docker and the sandbox image.',
  },
  sandbox_died: {
    class: 'transient',
    title: 'The sandbox died while the agent was working',
    remedy: 'Nothing to do: it is tried again. See the log of the Docker engine if it repeats.',
  },
  memory_exhausted: {
    class: 'transient',
    title: 'The sandbox ran out of memory',
    remedy: 'It is tried again with more. If it repeats, raise `sandbox.memory_mib`.',
  },
  memory_ceiling: {
    class: 'permanent',
    title: 'The work needs more memory than the operator allows',
    remedy: 'Raise `sandbox.memory_ceiling_mib`, or make the checks of the repository need less.',
  },
  disk_exhausted: {
    class: 'permanent',
    title: 'The attempt wrote more to its workspace than it may',
    remedy: 'Raise `sandbox.workspace_mib` or `sandbox.workspace_files`; the log names what was reached.',
  },
  setup_failed: {
    class: 'permanent',
    title: 'The setup of the repository failed',
    remedy:
      'Run the commands of `setup` in a fresh checkout; a place they must reach has to be named in `setup.network.allow` and allowed by the operator.',
  },
  image_refused: {
    class: 'permanent',
    title: 'The repository names a sandbox image that the operator does not allow',
    remedy: 'Add the image to `sandbox.images` of patchfleet.yml, or take it out of the repository file.',
  },
  command_failed: {
    class: 'permanent',
    title: 'The configured command failed',
    remedy: 'Run the command over the files in a checkout; its output is in the attempt log.',
  },
  output_invalid: {
    class: 'permanent',
    title: 'The output of the configured command is not in its declared format',
    remedy: 'Correct `format` (or `pattern`) of the agent in the configuration.',
  },
  diff_too_large: {
    class: 'permanent',
    title: 'The change is larger than the operator allows',
    remedy:
      'Split the pull request, ignore generated files with `review.ignore`, or raise `limits.diff_mib`.',
  },
  verification_failed: {
    class: 'permanent',
    title: 'The checks of the repository fail with the patch',
    remedy: 'See the failing checks in the verification log; fix them by hand or ask again with more detail.',
  },
  merge_conflict: {
    class: 'conflict',
    title: 'The patch conflicts with the target branch or with another patch',
    remedy: 'Ask again: the next run starts from the new base.',
  },
  patch_refused: {
    class: 'permanent',
    title: 'The patch changes what it must not change',
    remedy: 'Ask for the change by its path, or change the protected files by hand.',
  },
  plan_invalid: {
    class: 'permanent',
    title: 'No valid plan could be made',
    remedy: 'Say more exactly what is to be changed and where.',
  },
  target_moving: {
    class: 'transient',
    title: 'The target branch moved faster than the result could be verified',
    remedy: 'Ask again when the branch is quieter.',
  },
  cancelled: {
    class: 'permanent',
    title: 'The task was cancelled',
    remedy: 'Comment `/patchfleet review` to start again.',
  },
  internal: {
    class: 'transient',
    title: 'Something unexpected failed inside Patchfleet',
    remedy: 'The log has the whole error under the task id; please report it.',
  },
} as const satisfies Record<string, FailureKind>;

export type FailureCode = keyof typeof failureKinds;
export const failureCodes = Object.keys(failureKinds) as FailureCode[];

/** A failure as it is stored in rows and shown to people. `detail` never holds a secret. */
export interface Failure {
  readonly code: FailureCode;
  /** What exactly failed, one or a few lines. */
  readonly detail: string;
}

/** An error raised on purpose: a code of the table, the particulars, and what caused it. */
export class PatchfleetError extends Error {
  override readonly name = 'PatchfleetError';
  readonly code: FailureCode;
  readonly detail: string;

  constructor(code: FailureCode, detail: string, options?: { cause?: unknown }) {
    super(`${failureKinds[code].title}: ${detail}`, options);
    this.code = code;
    this.detail = detail;
  }

  get class(): FailureClass {
    return failureKinds[this.code].class;
  }

  get remedy(): string {
    return failureKinds[this.code].remedy;
  }
}

/** Characters of a detail that are kept: it goes into rows and from there into many reads. */
const longestDetail = 20_000;

/** The failure of any thrown value, fit to be stored; what is not a {@link PatchfleetError} is `internal`. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof PatchfleetError) return { code: thrown.code, detail: storable(thrown.detail) };
  return { code: 'internal', detail: storable(thrown instanceof Error ? thrown.message : String(thrown)) };
}

/** Postgres takes neither NUL nor half a surrogate pair in its JSON; then not even the failure would be kept. */
function storable(detail: string): string {
  const text = detail.replaceAll('\0', '\uFFFD').toWellFormed();
  if (text.length <= longestDetail) return text;
  return `${text.slice(0, longestDetail).toWellFormed()}\n[... ${text.length - longestDetail} characters left out ...]`;
}
