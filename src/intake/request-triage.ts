import type { Trigger } from '../domain/task.ts';
import type { Task } from '../store/port.ts';
import { type Admitting, admitted, ignoredFor, type Settlement } from './admission-ports.ts';
import { type RepositoryFile, readRepositoryFile } from './read-repository-file.ts';
import { columnsOf, readDefaultBranch, readSubject, type Subject } from './read-subject.ts';
import { priorities, startTask } from './start-task.ts';
import type { TriggerOf } from './trigger-decision.ts';

/** Makes the triage task of an issue. `keyEnd` makes this request one, within its issue. */
export async function requestTriage(
  at: Admitting,
  subject: Subject,
  request: { keyEnd: string; trigger: Trigger; priority: number; file?: RepositoryFile },
): Promise<Task> {
  const { repository, number, title, body } = subject;
  const { keyEnd, trigger, priority } = request;
  const file = request.file ?? (await readRepositoryFile(at.github, subject, at.operatorConfig));
  return await startTask(at, {
    kind: 'triage',
    key: `triage:${repository.id}:${number}:${keyEnd}`,
    ...columnsOf(subject),
    // It changes nothing.
    targetRef: '',
    subject: 'issue',
    number,
    title,
    body,
    trigger,
    config: file.config,
    priority,
    failure: file.failure,
    // Rules need nothing but its text: what they give is published at once.
    done: file.config?.triage.agent === 'none',
  });
}

/** A new issue is triaged where the repository file of the default branch says so. */
export async function admitIssue(at: Admitting, trigger: TriggerOf<'issue_opened'>): Promise<Settlement> {
  const place = await readDefaultBranch(at.github, trigger.repository);
  if (typeof place === 'string') return ignoredFor(place);
  const file = await readRepositoryFile(at.github, place, at.operatorConfig);
  // Nobody asked: a broken file is told to those who did.
  if (file.config === null) return ignoredFor('the repository file is not valid');
  if (!file.config.triage.on_open) return ignoredFor('triage.on_open is false');
  const subject = await readSubject(at.github, place.repository, trigger.number, false, null);
  if (typeof subject === 'string') return ignoredFor(subject);
  const { actor } = trigger;
  await requestTriage(at, subject, {
    keyEnd: 'opened',
    trigger: { kind: 'issue', name: 'opened', actor, deliveryId: at.delivery.id, commentId: null },
    priority: priorities.event,
    file,
  });
  return admitted;
}
