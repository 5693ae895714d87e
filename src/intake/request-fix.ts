import type { Trigger } from '../domain/task.ts';
import type { FindingRow, Task } from '../store/port.ts';
import type { Admitting } from './admission-ports.ts';
import { readRepositoryFile } from './read-repository-file.ts';
import { columnsOf, type Subject } from './read-subject.ts';
import { priorities, startTask } from './start-task.ts';

export interface FixRequest {
  /** What makes this request one, within its issue or pull request. */
  readonly keyEnd: string;
  /** In the words of whoever asked; empty: what the subject itself says. */
  readonly what: string;
  readonly trigger: Trigger;
  /** It waits for an approval. */
  readonly held: boolean;
  /** It is planned and shown, not run. */
  readonly planOnly: boolean;
}

export const fixIsOff = '`fix.enabled` is false in the repository file';

/** Makes the fix task; a text that says why not. A repository file that is broken makes a task that says so. */
export async function requestFix(
  at: Admitting,
  subject: Subject,
  request: FixRequest,
): Promise<Task | string> {
  const { repository, number, title, body } = subject;
  const { held, planOnly, trigger } = request;
  const file = await readRepositoryFile(at.github, subject, at.operatorConfig);
  if (file.config?.fix.enabled === false) return fixIsOff;
  if (held && file.failure !== null) return 'the repository file is not valid';
  const instruction = file.failure === null ? await instructionOf(at, subject, request.what) : request.what;
  if (typeof instruction !== 'string') return instruction.lacking;
  return await startTask(at, {
    kind: 'fix',
    key: `${planOnly ? 'plan' : 'fix'}:${repository.id}:${number}:${request.keyEnd}`,
    ...columnsOf(subject),
    subject: subject.subject,
    number,
    title,
    body,
    instruction,
    trigger,
    config: file.config,
    priority: priorities.request,
    failure: file.failure,
    held,
    planOnly,
  });
}

/** Characters an instruction is cut to. */
const maxInstruction = 20_000;

/** What is to be done. Without words of its own: the issue, or what the last review of the pull request found. */
async function instructionOf(
  at: Pick<Admitting, 'store'>,
  { subject, repository, number, title, body }: Subject,
  what: string,
): Promise<string | { lacking: string }> {
  if (what !== '') return what.slice(0, maxInstruction);
  if (subject === 'issue') return `${title}\n\n${body}`.trim().slice(0, maxInstruction);
  const reviews = (await at.store.tasks.ofPull(repository.id, number)).filter(
    (task) => task.kind === 'review' && task.outcome !== 'superseded' && task.outcome !== 'cancelled',
  );
  const [last] = reviews;
  if (last === undefined) return { lacking: 'there was no review yet; say what is to be fixed' };
  if (last.outcome === null) return { lacking: 'the review is not over yet; say what is to be fixed' };
  const found = (await at.store.views.task(last.id))?.findings ?? [];
  if (found.length === 0) return { lacking: 'the last review found nothing; say what is to be fixed' };
  return renderFindings(found);
}

function renderFindings(findings: readonly FindingRow[]): string {
  const parts: string[] = ['Fix what the last review found.'];
  let length = 100;
  for (const [index, { path, startLine, endLine, title, body }] of findings.entries()) {
    const lines = startLine === endLine ? `${startLine}` : `${startLine}-${endLine}`;
    const part = `- ${path}:${lines}: ${title}\n${body}`.trim();
    length += part.length + 2;
    if (length > maxInstruction) {
      parts.push(`(${findings.length - index} more are left out.)`);
      break;
    }
    parts.push(part);
  }
  return parts.join('\n\n');
}
