import type { SubjectIssue, Trigger } from '../domain/task.ts';
import type { Task } from '../store/port.ts';
import { type Admitting, admitted, ignoredFor, type Settlement } from './admission-ports.ts';
import { readRepositoryFile } from './read-repository-file.ts';
import { columnsOf, frozen, readDefaultBranch, readSubject } from './read-subject.ts';
import { fixIsOff } from './request-fix.ts';
import { priorities, startTask } from './start-task.ts';
import type { TriggerOf } from './trigger-decision.ts';

/** `label:NAME`, `label:"A name"`; null for anything else. */
export function readLabelArgument(args: string): string | null {
  const match = /^label:\s*(?:"([^"]{1,100})"|'([^']{1,100})'|([^\s"']{1,100}))$/i.exec(args);
  const name = match?.[1] ?? match?.[2] ?? match?.[3] ?? '';
  return name.trim() === '' ? null : name.trim();
}

/** A batch of the open issues with a label that no open batch has; a text that says why not. */
export async function requestBatch(
  at: Admitting,
  command: TriggerOf<'commands'>,
  label: string,
  trigger: Trigger,
): Promise<Task | string> {
  const { github, store } = at;
  const place = await readDefaultBranch(github, command.repository);
  if (typeof place === 'string') return place;
  const file = await readRepositoryFile(github, place, at.operatorConfig);
  if (file.config?.fix.enabled === false) return fixIsOff;
  const issues: SubjectIssue[] = [];
  let rest = '';
  if (file.config !== null) {
    const max = file.config.batch.max_issues;
    const found = await github.openIssues(place.repository, label, max);
    if (found.issues.length === 0) return `no open issue has the label ${inCode(label)}`;
    for (const issue of found.issues) {
      const tasks = await store.tasks.ofPull(place.repository.id, issue.number);
      if (!tasks.some((task) => isOpenBatchWith(task, issue.number))) issues.push(frozen(issue));
    }
    if (issues.length === 0) return 'these issues are in a batch already';
    if (found.more) rest = ` (the first ${max}; ask again for the rest)`;
  }
  return await startTask(at, {
    kind: 'batch',
    key: `batch:${place.repository.id}:${command.issue}:${command.commentId}`,
    ...columnsOf(place),
    subject: command.isPull ? 'pull_request' : 'issue',
    number: command.issue,
    title: `Issues labelled ${inCode(label)}${rest}`,
    body: '',
    issues,
    trigger,
    config: file.config,
    priority: priorities.background,
    failure: file.failure,
  });
}

function isOpenBatchWith(task: Task, issue: number): boolean {
  return task.kind === 'batch' && task.outcome === null && task.issues.some(({ number }) => number === issue);
}

/** A label's name is anybody's text. */
function inCode(name: string): string {
  return `\`${name.replace(/[`\s]+/g, ' ')}\``;
}

/**
 * A labelled issue goes into the batch that gathers, which begins when no issue was added for a while. Each
 * issue is in one open batch at most, and an event that was gathered once is not gathered again.
 */
export async function gatherIssue(at: Admitting, label: TriggerOf<'label'>): Promise<Settlement> {
  const { github, store, queue, delivery } = at;
  const subject = await readSubject(github, label.repository, label.number, false, label.words);
  if (typeof subject === 'string') return ignoredFor(subject);
  const file = await readRepositoryFile(github, subject, at.operatorConfig);
  if (file.config?.fix.enabled === false) return ignoredFor(fixIsOff);
  const { actor, at: labelledAt } = label;
  const earlier = await store.tasks.ofPull(subject.repository.id, subject.number);
  const known = earlier.find(
    ({ kind, issues, settledAt }) =>
      kind === 'batch' &&
      issues.some(({ number }) => number === subject.number) &&
      (settledAt === null || settledAt >= new Date(labelledAt)),
  );
  if (known !== undefined && known.phase !== 'held') return ignoredFor('the issue is in a batch already');
  const task = {
    kind: 'batch' as const,
    key: `batch:${subject.repository.id}:${subject.number}:label:${labelledAt}`,
    ...columnsOf(subject),
    subject: 'issue' as const,
    number: subject.number,
    title: 'Issues labelled `patchfleet:batch`',
    body: '',
    trigger: {
      kind: 'label' as const,
      name: 'labeled',
      actor,
      deliveryId: delivery.id,
      commentId: null,
    },
    config: file.config,
    priority: priorities.background,
    failure: file.failure,
  };
  if (file.config === null) {
    await startTask(at, { ...task, issues: [frozen(subject)] });
    return admitted;
  }
  const { quiet_seconds: quietSeconds, max_issues: maxIssues } = file.config.batch;
  const quietMs = quietSeconds * 1000;
  const { task: batch } = await store.tasks.gather(task, frozen(subject), { maxIssues, quietMs });
  // While the batch is still gathering its plan does nothing; the reconciler releases it when it is due.
  await queue.enqueue('plan', batch.id, { priority: batch.priority, delayMs: quietMs });
  return admitted;
}
