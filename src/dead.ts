import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Places } from './config/environment.ts';
import { failureKinds } from './domain/failure.ts';
import { openDatabase } from './store/database.ts';
import { createDeadLetters } from './store/dead-letters.ts';
import type { DeadLetters, LetterAttempt } from './store/port/dead-letters.ts';
import type { DeadLetter, Task } from './store/port.ts';

/** `patchfleet dead`: what failed for good, read and settled beside a running service. */

export interface DeadCommand {
  readonly verb: 'list' | 'show' | 'retry' | 'drop';
  /** An id, or what it begins with; empty for `list`. */
  readonly id: string;
}

/** Null: that is no command. */
export function readDeadCommand(args: readonly string[]): DeadCommand | null {
  const [verb, id, ...rest] = args;
  if (verb === 'list') return id === undefined ? { verb, id: '' } : null;
  if (id === undefined || rest.length > 0) return null;
  return verb === 'show' || verb === 'retry' || verb === 'drop' ? { verb, id: id.toLowerCase() } : null;
}

/** Exit code: 0 done, 1 not done (standard error says why). */
export async function runDead(command: DeadCommand, env: Places): Promise<number> {
  const dataDir = resolve(env.PATCHFLEET_DATA);
  await mkdir(dataDir, { recursive: true, mode: 0o755 });
  const onError = (error: Error) => process.stderr.write(`database connection: ${error.message}\n`);
  const database = await openDatabase({ url: env.DATABASE_URL, dataDir, onError });
  try {
    const answer = await answerTo(command, createDeadLetters(database.db), Date.now());
    (answer.done ? process.stdout : process.stderr).write(`${answer.text}\n`);
    return answer.done ? 0 : 1;
  } finally {
    await database.close();
  }
}

type Letter = DeadLetter & { readonly task: Task | null };

interface Answer {
  readonly done: boolean;
  readonly text: string;
}

const refused = (text: string): Answer => ({ done: false, text });
/** Of an id: `list` shows as many characters, so that a line is one line. */
const shownId = 8;

async function answerTo({ verb, id }: DeadCommand, letters: DeadLetters, now: number): Promise<Answer> {
  if (verb === 'list') return { done: true, text: renderList(await letters.list(), now) };
  if (!/^[0-9a-f-]{4,36}$/.test(id)) return refused(`"${id}" is no id: see \`patchfleet dead list\``);
  const [letter, second] = await letters.find(id);
  if (letter === undefined) return refused(`there is no dead letter ${id}: see \`patchfleet dead list\``);
  if (second !== undefined) return refused(`${id} begins the ids of several: give more of it`);
  switch (verb) {
    case 'show': {
      const attempts = letter.kind === 'subtask' ? await letters.attempts(letter.ref) : [];
      return { done: true, text: renderLetter(letter, attempts, now) };
    }
    case 'retry': {
      const why = await letters.retry(letter.id);
      if (why !== null) return refused(`not retried: ${why}`);
      return {
        done: true,
        text: `${what(letter)} is due again: a running service takes it up within seconds`,
      };
    }
    case 'drop': {
      if (!(await letters.drop(letter.id))) return refused(`not dropped: it was ${letter.status} already`);
      return { done: true, text: `${what(letter)} is dropped` };
    }
  }
}

export function renderList(letters: readonly Letter[], now: number): string {
  if (letters.length === 0) return 'nothing failed for good';
  const rows = letters.map((letter) => [
    letter.id.slice(0, shownId),
    letter.kind,
    letter.failure.code,
    age(now - letter.createdAt.getTime()),
    taskName(letter.task),
  ]);
  const table = [['ID', 'KIND', 'CODE', 'AGE', 'TASK'], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function renderLetter(letter: Letter, attempts: readonly LetterAttempt[], now: number): string {
  const { failure, task, createdAt, status, settledAt } = letter;
  const { title, remedy } = failureKinds[failure.code];
  const state =
    status === 'dead' ? age(now - createdAt.getTime()) : `${status} at ${settledAt?.toISOString() ?? ''}`;
  const lines = [
    `${letter.kind} ${letter.ref}`,
    `  id       ${letter.id}`,
    `  since    ${createdAt.toISOString()} (${state})`,
    `  task     ${task === null ? '-' : `${taskName(task)}, ${task.id}, ${task.outcome ?? task.phase}`}`,
    `  failure  ${failure.code}: ${title}`,
    ...indent(failure.detail),
    `  remedy   ${remedy}`,
  ];
  for (const attempt of attempts) lines.push('', ...renderAttempt(attempt));
  const known = new Set(['attempts']);
  const facts = Object.entries(letter.detail).filter(([name]) => attempts.length === 0 || !known.has(name));
  if (facts.length > 0)
    lines.push('', '  detail', ...facts.map(([name, value]) => `    ${name}: ${plain(value)}`));
  if (status === 'dead') {
    const id = letter.id.slice(0, shownId);
    lines.push('', `  patchfleet dead retry ${id}   ${again[letter.kind]}`);
    lines.push(`  patchfleet dead drop ${id}    nobody looks at it again`);
  }
  return lines.join('\n');
}

const again: Readonly<Record<DeadLetter['kind'], string>> = {
  delivery: 'it is admitted as if it had just come',
  task: 'it is planned again',
  subtask: 'it runs again, and what was skipped for its sake; then its task is published again',
  publication: 'it is published again, once what GitHub has was looked up',
};

function renderAttempt(attempt: LetterAttempt): string[] {
  const { number, status, worker, claimedAt, finishedAt, failure, turns, artifacts } = attempt;
  const times = `${claimedAt?.toISOString() ?? 'never begun'} to ${finishedAt?.toISOString() ?? 'now'}`;
  return [
    `  attempt ${number}: ${status}${failure === null ? '' : ` (${failure.code})`}, ${times}, ${turns} turns, worker ${worker ?? '-'}`,
    ...(failure === null ? [] : indent(failure.detail)),
    ...artifacts.map(({ name, digest, bytes }) => `    ${name}: artifact ${digest}, ${bytes} bytes`),
  ];
}

function what({ kind, ref, task }: Letter): string {
  return `${kind} ${ref}${task === null ? '' : ` (${taskName(task)})`}`;
}

function taskName(task: Task | null): string {
  return task === null
    ? '-'
    : `${task.kind} of ${task.owner}/${task.repo}${task.number === 0 ? '' : `#${task.number}`}`;
}

function plain(value: unknown): string {
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

function indent(text: string): string[] {
  return printable(text)
    .split('\n')
    .map((line) => `           ${line}`);
}

/** What comes from outside may hold sequences that a terminal obeys. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\uFFFD');
}

/** Milliseconds in the largest unit that leaves a whole number. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
