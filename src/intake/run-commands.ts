import type { OperatorConfig } from '../config/operator-config.ts';
import type { GitHub } from '../github/port.ts';
import type { Publisher } from '../publishing/port.ts';
import type { Queue } from '../scheduling/port.ts';
import type { Delivery, Store } from '../store/port.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Command } from './command-grammar.ts';
import { openReview } from './open-review.ts';
import { readRepositoryFile } from './read-repository-file.ts';
import { isVerb, renderCancelled, renderHelp, renderStatus, renderUnknown } from './render-replies.ts';
import type { TriggerDecision } from './triggers.ts';

export interface AdmissionPorts {
  readonly store: Pick<Store, 'deliveries' | 'tasks' | 'audit' | 'withLock'>;
  readonly queue: Queue;
  readonly github: GitHub;
  readonly publisher: Publisher;
  readonly operatorConfig: Pick<OperatorConfig, 'agents'>;
  readonly log: Logger;
}

export type CommandTrigger = Extract<TriggerDecision, { kind: 'commands' }>;

/**
 * Acts on the commands of one comment, in order, and answers them in one comment. The text was frozen by the
 * delivery: editing the comment later changes nothing. Safe to repeat after a failure half-way.
 */
export async function runCommands(
  ports: AdmissionPorts,
  trigger: CommandTrigger,
  delivery: Delivery,
): Promise<{ status: 'admitted' | 'ignored'; reason: string | null }> {
  const { store, publisher, log } = ports;
  const { repository, actor, commentId } = trigger;
  const permission = await ports.github.mayCommand(repository, actor, trigger.actorType);
  const react = async (content: 'eyes' | 'confused') => {
    await publisher.react(repository, commentId, content).catch((error: unknown) => {
      log.warn({ err: error, commentId }, 'a reaction could not be given');
    });
  };
  await store.audit.record({
    actor,
    action: permission.allowed ? 'command.allowed' : 'command.denied',
    subject: `${repository.owner}/${repository.name}#${trigger.issue}`,
    detail: {
      delivery: delivery.id,
      commentId,
      commands: trigger.commands.map(({ verb, args }) => `${verb} ${args}`.trim().replaceAll('\0', '\uFFFD')),
      level: permission.level,
      reason: permission.reason,
    },
  });
  if (!permission.allowed) {
    await react('confused');
    return { status: 'ignored', reason: `${actor} may not give commands: ${permission.reason}` };
  }
  await react('eyes');
  const replies: string[] = [];
  for (const command of trigger.commands) {
    const reply = await run(ports, trigger, delivery, command);
    if (reply !== null && !replies.includes(reply)) replies.push(reply);
  }
  if (replies.length > 0) {
    await publisher.reply(repository, trigger.issue, commentId, replies.join('\n\n---\n\n'));
  }
  return { status: 'admitted', reason: null };
}

/** The text of the answer; null where the task's own comment is the answer. */
async function run(
  ports: AdmissionPorts,
  trigger: CommandTrigger,
  delivery: Delivery,
  command: Command,
): Promise<string | null> {
  const { verb } = command;
  if (!isVerb(verb)) return renderUnknown(verb);
  if (verb === 'help') return renderHelp();
  if (!trigger.isPull && verb !== 'status') {
    return `\`/patchfleet ${verb}\` works on pull requests; this is an issue.`;
  }
  if (verb === 'status') {
    return renderStatus(await ports.store.tasks.ofPull(trigger.repository.id, trigger.issue));
  }
  if (verb === 'cancel') return renderCancelled(await cancel(ports, trigger, delivery));
  return await ports.store.withLock(`admit ${trigger.repository.id} ${trigger.issue}`, () =>
    review(ports, trigger, delivery),
  );
}

async function review(
  ports: AdmissionPorts,
  trigger: CommandTrigger,
  delivery: Delivery,
): Promise<string | null> {
  const { store } = ports;
  const earlier = await store.tasks.ofPull(trigger.repository.id, trigger.issue);
  // A repeated admission, perhaps on a newer head: the comment has its task already.
  const known = earlier.find((task) => task.trigger.commentId === trigger.commentId);
  if (known !== undefined) {
    if (known.phase === 'planning') await ports.queue.enqueue('plan', known.id, { priority: known.priority });
    if (known.phase !== 'finished')
      await ports.queue.enqueue('publish', known.id, { priority: known.priority });
    return null;
  }
  const pull = await ports.github.readPullRequest(trigger.repository, trigger.issue);
  if (typeof pull === 'string') return `No review: ${pull}.`;
  if (!pull.open) return 'No review: the pull request is closed.';
  const names = ports.operatorConfig.agents.map((agent) => agent.name);
  const file = await readRepositoryFile(ports.github, pull, names);
  const { actor, commentId } = trigger;
  await openReview(
    ports,
    pull,
    { kind: 'command', name: 'review', actor, deliveryId: delivery.id, commentId },
    file,
  );
  return null;
}

/** Settles the reviews that were open when the command came; returns their heads. */
async function cancel(ports: AdmissionPorts, trigger: CommandTrigger, delivery: Delivery): Promise<string[]> {
  const { store, queue } = ports;
  // Names the comment, so that a repeated admission knows what it cancelled the first time.
  const detail = `by ${trigger.actor}, in comment ${trigger.commentId}`;
  const heads: string[] = [];
  for (const task of await store.tasks.ofPull(trigger.repository.id, trigger.issue)) {
    const open = task.phase === 'planning' || task.phase === 'running';
    if (open && task.createdAt <= delivery.receivedAt) {
      if (await store.tasks.settle(task.id, 'cancelled', { code: 'cancelled', detail }))
        heads.push(task.headSha);
    } else if (task.outcome === 'cancelled' && task.failure?.detail === detail) heads.push(task.headSha);
    else continue;
    await queue.enqueue('publish', task.id, { priority: 10 });
  }
  return heads;
}
