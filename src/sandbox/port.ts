import type { RepositoryConfig } from '../config/repository-config.ts';
import type { NetworkRule } from '../config/sandbox-config.ts';
import type { RefusalRule } from '../domain/patch.ts';

/** What the rest of the product may know of sandboxes. */

/**
 * One container with one workspace, for one attempt. Calls reject with `sandbox_died` when the container is
 * gone or silent, with `memory_exhausted` when it is gone for want of memory, with the signal's reason when it
 * aborts, and with an Error named `ToolError` (no PatchfleetError) for what cannot be done with these arguments: no
 * such file, a binary file, not a pattern. Its message is meant for the agent, which may try otherwise.
 */
export interface Sandbox {
  readonly containerId: string;
  /** Absolute path of the workspace inside the container. */
  readonly workspace: string;
  /** It may reach something outside; left out: it may not. */
  readonly online?: boolean;
  /** Entries of a directory, sorted; at most `limit`. */
  list(path: string, options: CallOptions & { limit?: number }): Promise<Entry[]>;
  /** Lines `start` to `end` (1-based, inclusive) of a text file. */
  read(path: string, options: CallOptions & { start?: number; end?: number }): Promise<ReadResult>;
  /** Matches of a regular expression (Rust syntax) under `path`. */
  search(pattern: string, options: CallOptions & { path?: string; limit?: number }): Promise<SearchResult>;
  /**
   * Runs a program, no shell. Never rejects for what the program did, also not where it ran out of memory and only
   * its own processes had to go; see {@link RunResult}.
   */
  run(argv: readonly string[], options: CallOptions & RunOptions): Promise<RunResult>;
  /**
   * As {@link run}, but started and judged by the engine: nobody can speak for it on the tool server's stream. What
   * the program says of itself it still says itself, and what an earlier one left running has its user. Slower to
   * start; for what must be believed. Fails with `sandbox_died` when the container ends meanwhile, and
   * with `memory_exhausted` where it did not succeed and the kernel killed a process for want of memory: that says
   * nothing about the code.
   */
  runByEngine(
    argv: readonly string[],
    options: CallOptions & Pick<RunOptions, 'cwd' | 'env' | 'wallMs' | 'maxBuffer'>,
  ): Promise<RunResult>;
  /**
   * CPU time that everything in the container has used so far, ms. Null: the engine does not say. Asked of the
   * engine: nothing in the sandbox can tell it otherwise. Never rejects.
   */
  cpuMs(): Promise<number | null>;
  /** Writes a whole file, making its directories; `executable` null keeps the mode of a file that is there. */
  write(path: string, content: string, options: CallOptions & { executable?: boolean | null }): Promise<void>;
  /**
   * Replaces `old` by `replacement` in a text file. `old` must occur exactly once, or once when white space
   * is not counted; else nothing is written and the answer shows the nearest text.
   */
  edit(path: string, old: string, replacement: string, options: CallOptions): Promise<EditResult>;
  remove(path: string, options: CallOptions): Promise<void>;
  /**
   * Stops the container and compares the workspace with its snapshot. After this only {@link close} works.
   * Nothing in the workspace is followed, executed or opened unless it is a regular file.
   */
  harvest(signal: AbortSignal): Promise<readonly HarvestEntry[]>;
  /**
   * Stops the container and moves what was written in the workspace to `dir`, which is not there yet and lies on the
   * same file system; where workspaces are copies, that is everything. After this only {@link close} works.
   */
  keep(dir: string, signal: AbortSignal): Promise<void>;
  /** Stops and removes container and workspace. Never rejects; safe to call twice. */
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal: AbortSignal;
}

export interface Entry {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  readonly bytes: number;
}

export interface ReadResult {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly totalLines: number;
  /** True when the text was cut at the byte limit. */
  readonly truncated: boolean;
}

export interface SearchResult {
  readonly matches: readonly { path: string; line: number; text: string }[];
  readonly truncated: boolean;
}

export interface RunOptions {
  /** Relative to the workspace. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly wallMs: number;
  /** No output for this long ends the run. */
  readonly idleMs?: number;
  /** Bytes kept of each stream: head and tail. */
  readonly maxBuffer?: number;
  readonly stdin?: string;
}

/** Shaped after execa's results: what happened is told by booleans. */
export interface RunResult {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly isCanceled: boolean;
  readonly isMaxBuffer: boolean;
  /** Set when the program could not be started (not found, not executable). */
  readonly spawnError: string | null;
  readonly durationMs: number;
  /**
   * Most memory that the whole container, tool server included, was seen to need while the program ran: the cache of
   * files is left out, since the kernel takes it back; the whole limit where the kernel killed for want of memory.
   * Looked at ten times a second for {@link Sandbox.run} (while nothing moves, down to every 5 s), at the engine's word
   * twice a second for {@link Sandbox.runByEngine}: a shorter peak may be missed. Null: nobody says.
   */
  readonly peakMemoryBytes: number | null;
  /**
   * The kernel killed a process of the container for want of memory while the program ran. Never of
   * {@link Sandbox.runByEngine}, which then fails.
   */
  readonly outOfMemory: boolean;
}

export interface EditResult {
  readonly edited: boolean;
  /** 1-based first line of the replaced text; of the nearest text where nothing was edited; null: nothing is near. */
  readonly line: number | null;
  /** Where nothing was edited: why, and the nearest text of the file. */
  readonly explanation: string;
}

/** Something in the workspace that is not as the snapshot has it. Sorted by path. */
export type HarvestEntry =
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly executable: boolean;
      readonly bytes: number;
      /** Opened without following links; fails when it is no longer the regular file that was seen. */
      readonly read: () => Promise<Buffer>;
    }
  | { readonly kind: 'deleted'; readonly path: string }
  /** What cannot be part of a patch; `path` is escaped where it is not plain UTF-8. */
  | { readonly kind: 'refused'; readonly path: string; readonly rule: RefusalRule; readonly reason: string };

/** What a sandbox is made of, whoever will use it. */
export interface SandboxKind {
  /** A read-only snapshot directory made by {@link Snapshots}. */
  readonly snapshot: string;
  /** A layer of dependencies over that snapshot; without it there is none. */
  readonly prepared?: string | null;
  /** By default the operator's; checked against the operator's list by whoever asks. */
  readonly image?: string;
  /** By default the operator's. */
  readonly memoryMib?: number;
  /** What it may reach; by default nothing. */
  readonly network?: readonly NetworkRule[];
}

export interface SandboxRequest extends SandboxKind {
  readonly taskId: string;
  readonly attemptId: string;
  readonly wallMs: number;
}

export interface Sandboxes {
  /**
   * A sandbox over a fresh workspace of that kind, used by nobody before. Fails with `sandbox_unavailable`,
   * `memory_ceiling`.
   */
  acquire(request: SandboxRequest, signal: AbortSignal): Promise<Sandbox>;
  /**
   * Says that `count` sandboxes of this kind will be wanted next, of those not acquired yet: they are started ahead,
   * as far as the pool goes. Returns at once and never fails; the last word on a kind counts.
   */
  prewarm(kind: SandboxKind, count: number): void;
  /**
   * Removes every container and workspace of this instance whose worker is not alive, and those of this worker that
   * it does not know. Never touches anything without our label and instance. Returns what it removed.
   */
  reap(isAlive: (worker: string) => Promise<boolean>): Promise<{ containers: number; workspaces: number }>;
  /**
   * Id of an image on the engine, by default of the operator's: a rebuilt image has another. Fails with
   * `sandbox_unavailable`.
   */
  imageId(signal: AbortSignal, image?: string): Promise<string>;
  /** Checks the engine and these images, by default all that the operator names. Never rejects. */
  check(images?: readonly string[]): Promise<SandboxCheck>;
  /** Removes what was started ahead. Sandboxes in use are left to their users. */
  close(): Promise<void>;
}

/** What is wrong with engine or images, and what is only to be known; each with its remedy. No problem: all well. */
export interface SandboxCheck {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Makes read-only directories from commits, once each. */
export interface Snapshots {
  /** Directory that holds exactly the tree of the commit (blob by blob, without filters). */
  ensure(repository: { id: number; mirrorDir: string }, commit: string, signal: AbortSignal): Promise<string>;
}

/** What code is to be put in a sandbox, and for what. */
export interface KindRequest {
  readonly repository: { readonly id: number; readonly mirrorDir: string };
  readonly commit: string;
  /** The repository file, as the task has it. */
  readonly config: Pick<RepositoryConfig, 'setup' | 'sandbox'>;
  /**
   * A commit of a branch of the repository itself. Where it wants the same dependencies they are made of it, and
   * shared with every task; else they are made of `commit`, and shared within the task alone.
   */
  readonly trusted: string;
  readonly taskId: string;
  /** `check`: verification, which has no network whatever the operator allows agents. */
  readonly use: 'agent' | 'check';
  /** By default the operator's. */
  readonly memoryMib?: number | undefined;
}

/** Decides what a sandbox is made of, and makes it where it is not there yet. */
export interface SandboxKinds {
  /**
   * Snapshot and prepared layer, image, memory and network. Fails with `image_refused`, `config_invalid` (a place that
   * the operator does not allow), `setup_failed` (at once, where the same setup failed a short time ago),
   * `commit_missing`, `git_failed`, or as its own sandbox does.
   */
  of(request: KindRequest, signal: AbortSignal): Promise<SandboxKind>;
  /**
   * Names all that a check of that commit runs upon, its tree apart: two with the same name have the same image and the
   * same dependencies. Makes nothing. Fails with `image_refused`, `sandbox_unavailable`, `commit_missing`.
   */
  environmentOf(request: KindRequest, signal: AbortSignal): Promise<string>;
}
