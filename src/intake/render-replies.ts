import { nearest } from '../config/nearest.ts';
import type { Task } from '../store/port.ts';

/** What a command answers with. Our own texts hold no line that is a command. */

const verbs = {
  review: 'review the pull request at its current head',
  status: 'say what is running and what is done',
  cancel: 'stop the reviews of this pull request that are still open',
  help: 'show this list',
} as const;
export type Verb = keyof typeof verbs;

export function isVerb(word: string): word is Verb {
  return Object.hasOwn(verbs, word);
}

export function renderHelp(): string {
  const lines = Object.entries(verbs).map(([verb, meaning]) => `- \`/patchfleet ${verb}\`: ${meaning}`);
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
  if (tasks.length === 0) return 'There was no review of this pull request yet.';
  const rows = tasks.slice(0, tasksShown).map((task) => {
    const state = task.outcome ?? task.phase;
    const files = task.mergeBase === null ? '' : String(task.filesChanged);
    const asked = `${task.trigger.name} by \`${task.trigger.actor}\``;
    return `| \`${task.headSha.slice(0, 12)}\` | ${state} | ${files} | ${asked} | ${minute(task.createdAt)} |`;
  });
  const more = tasks.length > tasksShown ? `\n\n${tasks.length - tasksShown} older ones are not shown.` : '';
  return (
    ['| Head | State | Files | Asked for by | Since |', '|---|---|---|---|---|', ...rows].join('\n') + more
  );
}

function minute(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function renderCancelled(heads: readonly string[]): string {
  if (heads.length === 0) return 'There is no open review to cancel.';
  const list = heads.map((head) => `\`${head.slice(0, 12)}\``).join(', ');
  return heads.length === 1 ? `Cancelled the review of ${list}.` : `Cancelled the reviews of ${list}.`;
}
