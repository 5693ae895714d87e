import type { Admitting } from './admission-ports.ts';
import { readSubject } from './read-subject.ts';
import { requestFix } from './request-fix.ts';
import type { TriggerOf } from './trigger-decision.ts';

/** Requests of one person in one repository that may wait for an approval at once. */
const maxHeld = 3;

/**
 * A fix, or the plan of one, that somebody without write permission asks for on their own issue, or their own pull request from a
 * fork, waits until a maintainer approves it. Returns null then, else why it is denied. Repeating it changes
 * nothing.
 */
export async function holdFix(
  at: Admitting,
  trigger: TriggerOf<'commands'>,
  asked: { readonly verb: 'fix' | 'plan'; readonly what: string },
): Promise<string | null> {
  const { store, publisher, delivery, signal } = at;
  const { repository, issue, isPull, words, actor, commentId } = trigger;
  return await store.withLock(`hold ${repository.id} ${actor}`, async () => {
    const waiting = (await store.tasks.heldIn(repository.id)).filter((task) => task.trigger.actor === actor);
    const known = waiting.find((task) => task.trigger.commentId === commentId);
    if (known === undefined && waiting.length >= maxHeld) {
      return `${waiting.length} requests of ${actor} wait for an approval already`;
    }
    const subject = await readSubject(at.github, repository, issue, isPull, words);
    if (typeof subject === 'string') return subject;
    if (subject.author !== actor) return `${actor} did not open it`;
    if (isPull && !subject.fork) return 'the pull request is not from a fork';
    const task = await requestFix(at, subject, {
      keyEnd: String(commentId),
      what: asked.what,
      trigger: { kind: 'command', name: asked.verb, actor, deliveryId: delivery.id, commentId },
      held: true,
      planOnly: asked.verb === 'plan',
    });
    if (typeof task === 'string') return task;
    // No reconciler looks at held tasks: what says that it waits is published here, or admission is repeated.
    if (task.phase === 'held') await publisher.publish(task.id, signal);
    return null;
  });
}
