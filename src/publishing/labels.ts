import type { InstallationClient } from '../github/port.ts';
import type { Task } from '../store/port.ts';
import { type Answer, ask, askAll, isGone, type PublishingDeps } from './ask-github.ts';
import { contentFingerprint } from './content-fingerprint.ts';

export interface LabelChange {
  /** To be on the issue. */
  readonly add: readonly string[];
  /** Not to be on it; never one of a repository's own. */
  readonly remove: readonly string[];
  /** Makes those of `add` that the repository lacks. False: they are left out. */
  readonly create: boolean;
}

export function labelsKey(taskId: string, issue: number): string {
  return `labels:${taskId}:${issue}`;
}

const looks: Readonly<Record<string, { readonly color: string; readonly description: string }>> = {
  'patchfleet:running': { color: 'fbca04', description: 'Patchfleet is working on it' },
  'patchfleet:done': { color: '0e8a16', description: 'Patchfleet is through with it' },
  'patchfleet:failed': { color: 'd93f0b', description: 'Patchfleet could not do all of it' },
};

/** Brings the labels of an issue to what is wanted. GitHub is asked first, so that nothing is set twice. */
export async function publishLabels(
  deps: PublishingDeps,
  task: Task,
  issue: number,
  change: LabelChange,
  signal: AbortSignal,
): Promise<void> {
  const { publications } = deps.store;
  const key = labelsKey(task.id, issue);
  const fingerprint = contentFingerprint(change);
  await deps.store.withLock(`publish:${key}`, async () => {
    const row = await publications.get(key);
    if (row?.fingerprint === fingerprint && (row.status === 'done' || row.status === 'failed')) return;
    const client = await deps.github.client(task.installationId);
    await publications.begin(key, 'labels', task.id);
    const answer = await apply({ client, task, issue, signal }, change);
    if (answer.refused === null) return publications.done(key, { fingerprint, detail: { set: answer.data } });
    const { status, detail } = answer.refused;
    deps.log.warn({ task: task.id, key, status, detail }, 'labels refused');
    // The same is not tried for ever; another state of the issue is.
    await publications.done(key, { fingerprint });
    await publications.fail(key, { code: 'github_refused', detail });
  });
}

interface At {
  readonly client: InstallationClient;
  readonly task: Task;
  readonly issue: number;
  readonly signal: AbortSignal;
}

/** The labels of `add` that are on the issue now, whoever set them. */
async function apply(at: At, { add, remove, create }: LabelChange): Promise<Answer<readonly string[]>> {
  const { client, task, issue, signal } = at;
  const target = { owner: task.owner, repo: task.repo, issue_number: issue };
  const request = { signal };
  const now = await askAll<{ name: string }>(
    client,
    'the labels of the issue could not be read',
    signal,
    client.rest.issues.listLabelsOnIssue,
    target,
  );
  if (now.refused !== null) return now;
  // GitHub tells labels apart by more than case alone.
  const has = new Map(now.data.map(({ name }) => [name.toLowerCase(), name]));
  const missing: string[] = [];
  const set: string[] = [];
  for (const name of add) {
    const there = has.get(name.toLowerCase());
    if (there !== undefined) {
      set.push(there);
      continue;
    }
    const known = await ensureLabel(at, name, create);
    if (known.refused !== null) return known;
    if (known.data) missing.push(name);
    if (known.data) set.push(name);
  }
  if (missing.length > 0) {
    const answer = await ask('the labels could not be added', signal, () =>
      client.rest.issues.addLabels({ ...target, labels: missing, request }),
    );
    if (answer.refused !== null) return answer;
  }
  for (const name of remove) {
    const there = has.get(name.toLowerCase());
    if (there === undefined) continue;
    const answer = await ask('the label could not be removed', signal, () =>
      client.rest.issues.removeLabel({ ...target, name: there, request }),
    );
    // Somebody else removed it meanwhile.
    if (answer.refused !== null && !isGone(answer.refused)) return answer;
  }
  return { refused: null, data: set };
}

async function ensureLabel(
  { client, task, signal }: At,
  name: string,
  create: boolean,
): Promise<Answer<boolean>> {
  const target = { owner: task.owner, repo: task.repo, name, request: { signal } };
  const found = await ask('the label could not be read', signal, () => client.rest.issues.getLabel(target));
  if (found.refused === null) return { refused: null, data: true };
  if (!isGone(found.refused)) return found;
  if (!create) return { refused: null, data: false };
  const made = await ask(`the label ${name} could not be made`, signal, () =>
    client.rest.issues.createLabel({ ...target, ...looks[name] }),
  );
  // 422: another task made it at the same time.
  return made.refused === null || made.refused.status === 422 ? { refused: null, data: true } : made;
}
