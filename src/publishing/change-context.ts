import type { InstallationClient, Mirror, Mirrors } from '../github/port.ts';
import type { TaskView } from '../store/port/views.ts';
import type { PublishingDeps } from './ask-github.ts';

export interface ChangeDeps extends PublishingDeps {
  readonly mirrors: Mirrors;
  /** Least time between two updates of a comment while its task runs, milliseconds. */
  readonly updateMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What every step of publishing one change has. The view was read under the lock of the change. */
export interface ChangeContext {
  readonly deps: ChangeDeps;
  readonly client: InstallationClient;
  readonly mirror: Mirror;
  readonly view: TaskView;
  readonly signal: AbortSignal;
}
