import type { InstallationClient } from '../github/port.ts';
import type { Task } from '../store/port.ts';
import { type Answer, ask, isGone, type Refusal } from './ask-github.ts';

/** Where the result goes to, as GitHub has it now. */

export function gone(detail: string): Refusal {
  return { status: 404, detail };
}

/** The head of the target; a refusal where there is none any more. */
export async function readTargetHead(
  client: InstallationClient,
  task: Task,
  signal: AbortSignal,
): Promise<Answer<string>> {
  const { owner, repo } = task;
  if (task.fork) {
    const answer = await ask('the pull request could not be read', signal, () =>
      client.rest.pulls.get({ owner, repo, pull_number: task.number, request: { signal } }),
    );
    return answer.refused === null ? { refused: null, data: answer.data.head.sha } : answer;
  }
  const answer = await ask('the target branch could not be read', signal, () =>
    client.rest.git.getRef({ owner, repo, ref: `heads/${task.targetRef}`, request: { signal } }),
  );
  if (answer.refused === null) return { refused: null, data: answer.data.object.sha };
  if (!isGone(answer.refused)) return answer;
  return {
    refused: gone(`the branch ${task.targetRef} is gone: there is nothing to open a pull request against`),
  };
}

/**
 * Why nobody waits for the result any more; null: somebody does. `issue`: of a batch with a pull request for each;
 * null: the task as a whole, of whose issues one that is open is enough.
 */
export async function whyUnwanted(
  client: InstallationClient,
  task: Task,
  issue: number | null,
  signal: AbortSignal,
): Promise<Answer<string | null>> {
  if (task.subject === 'branch') return { refused: null, data: null };
  const numbers =
    issue !== null ? [issue] : task.issues.length > 0 ? task.issues.map((one) => one.number) : [task.number];
  const noun = task.subject === 'pull_request' && task.issues.length === 0 ? 'pull request' : 'issue';
  let reason: string | null = null;
  for (const number of numbers) {
    const answer = await ask(`the ${noun} could not be read`, signal, () =>
      client.rest.issues.get({
        owner: task.owner,
        repo: task.repo,
        issue_number: number,
        request: { signal },
      }),
    );
    if (answer.refused !== null) {
      if (!isGone(answer.refused)) return answer;
      reason = `the ${noun} ${number} is gone`;
    } else if (answer.data.state === 'open') {
      return { refused: null, data: null };
    } else {
      reason = `the ${noun} ${number} was closed meanwhile`;
    }
  }
  const all = numbers.length > 1 ? 'all issues of the batch were closed meanwhile' : reason;
  return { refused: null, data: all };
}
