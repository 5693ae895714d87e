import { nearest } from '../config/nearest.ts';
import type { Task } from '../store/port.ts';

/** What a command answers with. Our own texts hold no line that is a command. */

const verbs = {
  review: ['', 'review the pull request at its current head'],
  fix: [
    ' [what]',
    'make a verified draft pull request; without words: of the issue, or of what the last review found',
  ],
  plan: [' [what]', 'show how a fix would be cut into subtasks and what it may cost, without running it'],
  triage: ['', 'label the issue, look for duplicates and ask for what is missing'],
  batch: [' label:NAME', 'fix all open issues with that label'],
  approve: ['', 'let the requests begin that wait here for an approval'],
  status: ['', 'say what is running and what is done'],
  cancel: ['', 'stop what is still open here'],
  help: ['', 'show this list'],
} as const;
export type Verb = keyof typeof verbs;

export function isVerb(word: string): word is Verb {
  return Object.hasOwn(verbs, word);
}

export function renderHelp(): string {
  const lines = Object.entries(verbs).map(
    ([verb, [args, meaning]]) => `- \`/patchfleet ${verb}${args}\`: ${meaning}`,
  );
  return ['Commands, at the start of a line of a comment:', '', ...lines].join('\n');
}

/** The verb is a word of letters and hyphens by the grammar, so it needs no escaping. */
export function renderUnknown(verb: string): string {
  const meant = nearest(verb, Object.keys(verbs));
  const hint = meant === null ? '' : ` Did you mean \`/patchfleet ${meant}\`?`;
  return `There is no command \`${verb}\`.${hint}\n\n${renderHelp()}`;
}

/** At most this many tasks are listed, the newest first. */
const tasksShown = 10;

export function renderStatus(tasks: readonly Task[]): string {
  if (tasks.length === 0) return 'Nothing was asked for here yet.';
  const rows = tasks.slice(0, tasksShown).map((task) => {
    const files = task.mergeBase === null ? '' : String(task.filesChanged);
    const asked = `${task.trigger.name} by \`${task.trigger.actor}\``;
    return `| ${task.planOnly ? 'plan' : task.kind} | \`${task.headSha.slice(0, 12)}\` | ${stateOf(task)} | ${files} | ${asked} | ${minute(task.createdAt)} |`;
  });
  const more = tasks.length > tasksShown ? `\n\n${tasks.length - tasksShown} older ones are not shown.` : '';
  return (
    ['| Task | Head | State | Files | Asked for by | Since |', '|---|---|---|---|---|---|', ...rows].join(
      '\n',
    ) + more
  );
}

function stateOf({ outcome, phase, startAfter }: Task): string {
  if (outcome !== null || phase !== 'held') return outcome ?? phase;
  return startAfter === null ? 'waits for an approval' : 'gathers issues';
}

function minute(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function renderCancelled(tasks: readonly Task[]): string {
  return tasks.length === 0 ? 'There is nothing open to cancel.' : `Cancelled ${listOf(tasks)}.`;
}

export function renderApproved(tasks: readonly Task[]): string {
  return tasks.length === 0 ? 'Nothing waits for an approval here.' : `Approved ${listOf(tasks)}.`;
}

function listOf(tasks: readonly Task[]): string {
  const named = tasks.map((task) => {
    const head = `\`${task.headSha.slice(0, 12)}\``;
    if (task.kind === 'batch')
      return task.issues.length === 1 ? 'the batch of 1 issue' : `the batch of ${task.issues.length} issues`;
    if (task.kind === 'review') return `the review of ${head}`;
    return task.kind === 'triage'
      ? 'the triage'
      : `the ${task.planOnly ? 'plan' : task.kind} of \`${task.trigger.actor}\` on ${head}`;
  });
  return named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} and ${named.at(-1)}`;
}
