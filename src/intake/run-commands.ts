import type { Trigger } from '../domain/task.ts';
import type { Task } from '../store/port.ts';
import { type Admitting, admitted, ignoredFor, type Settlement } from './admission-ports.ts';
import { approveTasks, cancelTasks } from './cancel-tasks.ts';
import type { Command } from './command-grammar.ts';
import { holdFix } from './hold-fix.ts';
import { openReview } from './open-review.ts';
import { readRepositoryFile } from './read-repository-file.ts';
import { readSubject } from './read-subject.ts';
import {
  isVerb,
  renderApproved,
  renderCancelled,
  renderHelp,
  renderStatus,
  renderUnknown,
  type Verb,
} from './render-replies.ts';
import { readLabelArgument, requestBatch } from './request-batch.ts';
import { requestFix } from './request-fix.ts';
import { requestTriage } from './request-triage.ts';
import { askForNext, priorities } from './start-task.ts';
import type { TriggerOf } from './trigger-decision.ts';

type CommandTrigger = TriggerOf<'commands'>;

/**
 * Acts on the commands of one comment, in order, and answers them in one comment. The text was frozen by the
 * delivery: editing the comment later changes nothing. Safe to repeat after a failure half-way.
 */
export async function runCommands(at: Admitting, trigger: CommandTrigger): Promise<Settlement> {
  const { store, publisher, log } = at;
  const { repository, actor, commentId } = trigger;
  const commands = joinWords(joinWords(trigger.commands, 'fix'), 'plan');
  const permission = await at.github.mayCommand(repository, actor, trigger.actorType);
  const react = async (content: 'eyes' | 'confused') => {
    await publisher.react(repository, commentId, content).catch((error: unknown) => {
      log.warn({ err: error, commentId }, 'a reaction could not be given');
    });
  };
  const record = (action: 'allowed' | 'denied' | 'held', reason: string) =>
    store.audit.record({
      actor,
      action: `command.${action}`,
      subject: `${repository.owner}/${repository.name}#${trigger.issue}`,
      detail: {
        delivery: at.delivery.id,
        commentId,
        commands: commands.map(({ verb, args }) => `${verb} ${args}`.trim()),
        level: permission.level,
        reason,
      },
    });
  if (!permission.allowed) {
    const asked = commands.find(({ verb }) => verb === 'fix') ?? commands.find(({ verb }) => verb === 'plan');
    // Where the permission could not be learned nothing is done, not even that.
    const denied =
      asked === undefined || permission.level === null
        ? permission.reason
        : await holdFix(at, trigger, {
            verb: asked.verb === 'plan' ? 'plan' : 'fix',
            what: asked.args,
          }).then((why) => why && `${permission.reason}; ${why}`);
    await record(denied === null ? 'held' : 'denied', denied ?? permission.reason);
    await react(denied === null ? 'eyes' : 'confused');
    return denied === null
      ? { status: 'admitted', reason: 'waits for an approval' }
      : ignoredFor(`${actor} may not give commands: ${denied}`);
  }
  await record('allowed', permission.reason);
  await react('eyes');
  const replies: string[] = [];
  for (const command of commands) {
    const reply = await run(at, trigger, command);
    if (reply !== null && !replies.includes(reply)) replies.push(reply);
  }
  if (replies.length > 0) {
    await publisher.reply(repository, trigger.issue, commentId, replies.join('\n\n---\n\n'));
  }
  return admitted;
}

/** Postgres stores no U+0000. A comment makes one fix: its `fix` lines are one request, where the first stands; so with a plan. */
function joinWords(given: readonly Command[], wanted: 'fix' | 'plan'): Command[] {
  const commands = given.map(({ verb, args }) => ({ verb, args: args.replaceAll('\0', '\uFFFD') }));
  const alike = commands.filter(({ verb }) => verb === wanted);
  const args = alike.flatMap((one) => (one.args === '' ? [] : [one.args])).join('\n');
  return commands.flatMap((command) => {
    if (command.verb !== wanted) return [command];
    return command === alike[0] ? [{ verb: wanted, args }] : [];
  });
}

/** The commands that make a task. */
type TaskVerb = 'review' | 'fix' | 'plan' | 'triage' | 'batch';

const onlyOn: Readonly<Partial<Record<Verb, 'pull' | 'issue'>>> = { review: 'pull', triage: 'issue' };

/** The text of the answer; null where the task's own comment is the answer. */
async function run(at: Admitting, trigger: CommandTrigger, command: Command): Promise<string | null> {
  const { verb, args } = command;
  const { repository, issue, isPull } = trigger;
  if (!isVerb(verb)) return renderUnknown(verb);
  const where = onlyOn[verb];
  if (where === 'pull' && !isPull) return `\`/patchfleet ${verb}\` works on pull requests; this is an issue.`;
  if (where === 'issue' && isPull) return `\`/patchfleet ${verb}\` works on issues; this is a pull request.`;
  const locked = (of: TaskVerb, work: () => Promise<Task | string>) =>
    at.store.withLock(`admit ${repository.id} ${issue}`, () => once(at, trigger, of, work));
  switch (verb) {
    case 'help':
      return renderHelp();
    case 'status':
      return renderStatus(await at.store.tasks.ofPull(repository.id, issue));
    case 'cancel':
      return renderCancelled(await cancelTasks(at, trigger));
    case 'approve':
      return renderApproved(await approveTasks(at, trigger));
    case 'review':
      return await locked(verb, () => review(at, trigger));
    case 'fix':
    case 'plan':
      return await locked(verb, () => fix(at, trigger, verb, args));
    case 'triage':
      return await locked(verb, () => triage(at, trigger));
    case 'batch': {
      const label = readLabelArgument(args);
      if (label === null) return 'Say which issues: `/patchfleet batch label:NAME`.';
      return await at.store.withLock(`batch ${repository.id}`, () =>
        once(at, trigger, verb, () => requestBatch(at, trigger, label, triggerOf(at, trigger, verb))),
      );
    }
  }
}

/** Does the work unless this comment has its task already: admission is repeated, perhaps on a newer head. */
async function once(
  at: Admitting,
  trigger: CommandTrigger,
  verb: TaskVerb,
  work: () => Promise<Task | string>,
): Promise<string | null> {
  const earlier = await at.store.tasks.ofPull(trigger.repository.id, trigger.issue);
  const known = earlier.find(
    ({ kind, planOnly, trigger: { commentId } }) =>
      (planOnly ? 'plan' : kind) === verb && commentId === trigger.commentId,
  );
  if (known !== undefined) {
    await askForNext(at, known);
    return null;
  }
  const made = await work();
  return typeof made === 'string' ? `No ${verb}: ${made}.` : null;
}

function triggerOf(at: Admitting, { actor, commentId }: CommandTrigger, name: Verb): Trigger {
  return { kind: 'command', name, actor, deliveryId: at.delivery.id, commentId };
}

async function review(at: Admitting, trigger: CommandTrigger): Promise<Task | string> {
  const pull = await at.github.readPullRequest(trigger.repository, trigger.issue);
  if (typeof pull === 'string') return pull;
  if (!pull.open) return 'the pull request is closed';
  const file = await readRepositoryFile(at.github, pull, at.operatorConfig);
  return (await openReview(at, pull, triggerOf(at, trigger, 'review'), file)).task;
}

async function fix(
  at: Admitting,
  trigger: CommandTrigger,
  verb: 'fix' | 'plan',
  what: string,
): Promise<Task | string> {
  const subject = await readSubject(
    at.github,
    trigger.repository,
    trigger.issue,
    trigger.isPull,
    trigger.words,
  );
  if (typeof subject === 'string') return subject;
  const keyEnd = String(trigger.commentId);
  return await requestFix(at, subject, {
    keyEnd,
    what,
    trigger: triggerOf(at, trigger, verb),
    held: false,
    planOnly: verb === 'plan',
  });
}

async function triage(at: Admitting, trigger: CommandTrigger): Promise<Task | string> {
  const subject = await readSubject(at.github, trigger.repository, trigger.issue, false, trigger.words);
  if (typeof subject === 'string') return subject;
  return await requestTriage(at, subject, {
    keyEnd: String(trigger.commentId),
    trigger: triggerOf(at, trigger, 'triage'),
    priority: priorities.request,
  });
}
