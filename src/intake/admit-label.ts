import { type Admitting, admitted, ignoredFor, type Settlement } from './admission-ports.ts';
import { readSubject } from './read-subject.ts';
import { gatherIssue } from './request-batch.ts';
import { requestFix } from './request-fix.ts';
import type { TriggerOf } from './trigger-decision.ts';

/** A label asks for work where GitHub says that whoever put it may put labels. */
export async function admitLabel(at: Admitting, trigger: TriggerOf<'label'>): Promise<Settlement> {
  const { store, github, delivery } = at;
  const { repository, number, actor } = trigger;
  const permission = await github.mayLabel(repository, actor, trigger.actorType);
  await store.audit.record({
    actor,
    action: permission.allowed ? 'label.allowed' : 'label.denied',
    subject: `${repository.owner}/${repository.name}#${number}`,
    detail: {
      delivery: delivery.id,
      label: trigger.label,
      level: permission.level,
      reason: permission.reason,
    },
  });
  if (!permission.allowed) return ignoredFor(`${actor} may not label: ${permission.reason}`);
  if (trigger.label === 'batch') {
    return await store.withLock(`batch ${repository.id}`, () => gatherIssue(at, trigger));
  }
  return await store.withLock(`admit ${repository.id} ${number}`, () => fixLabelled(at, trigger));
}

async function fixLabelled(at: Admitting, trigger: TriggerOf<'label'>): Promise<Settlement> {
  const { repository, number, isPull, words } = trigger;
  const subject = await readSubject(at.github, repository, number, isPull, words);
  if (typeof subject === 'string') return ignoredFor(subject);
  const task = await requestFix(
    at,
    // What was pushed after the label was put is not what was asked for.
    { ...subject, headSha: trigger.headSha ?? subject.headSha },
    {
      keyEnd: `label:${trigger.at}`,
      what: '',
      trigger: {
        kind: 'label',
        name: 'labeled',
        actor: trigger.actor,
        deliveryId: at.delivery.id,
        commentId: null,
      },
      held: false,
      planOnly: false,
    },
  );
  return typeof task === 'string' ? ignoredFor(task) : admitted;
}
