import { createHash } from 'node:crypto';

/** A call as the model saw it. Times are milliseconds since the epoch. */
export interface ModelCall {
  /** The key of the process that made it. */
  readonly key: string;
  readonly startedAt: number;
  /** The whole answer went out, as an agent's would: it is paid. */
  readonly answered: boolean;
  /** Empty for a planner's. */
  readonly subtask: string;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

/** The SIGKILL of a worker. */
export interface WorkerKill {
  readonly key: string;
  readonly pid: number;
  readonly at: number;
}

/** A worker's hold on a row: `subtask` and the worker's process. `finishedAt` null: never. */
export interface Hold {
  readonly subtask: string;
  readonly pid: number;
  readonly claimedAt: number;
  readonly finishedAt: number | null;
}

export interface PaidTurns {
  /** Turns that were answered more often than once, each time beyond the first counted. */
  readonly paidTwice: number;
  /** Conversations in flight in a worker when it was killed, over all kills. */
  readonly inFlight: number;
  /** Turns paid twice of conversations that no kill cut off. */
  readonly unexplained: readonly string[];
}

/**
 * Pure. A turn is known by how its conversation begins (the first prompt, without the ids of the attempt and its
 * container, so that the same row run again is the same conversation) and by its place in it. That is stricter than
 * to compare whole prompts: a row that begins anew pays again whatever the tools answered in between.
 */
export function judgePaidTurns(
  calls: readonly ModelCall[],
  kills: readonly WorkerKill[],
  holds: readonly Hold[],
  /** When the tasks were planned, by id; null: never. */
  plannedAt: ReadonlyMap<string, number | null>,
): PaidTurns {
  const known = calls.map((call) => ({ ...call, conversation: conversationOf(call), turn: turnOf(call) }));
  const turns = Map.groupBy(
    known.filter(({ answered }) => answered),
    ({ conversation, turn }) => `${conversation} ${turn}`,
  );
  const again = [...turns.values()].flatMap((same) => same.slice(1));
  const cut = kills.flatMap((kill) => {
    const made = known.filter(({ key, startedAt }) => key === kill.key && startedAt <= kill.at);
    return [...new Map(made.map((call) => [call.conversation, call])).values()]
      .filter((call) => isOpen(call, kill, holds, plannedAt))
      .map(({ conversation }) => conversation);
  });
  return {
    paidTwice: again.length,
    inFlight: cut.length,
    unexplained: again
      .filter(({ conversation }) => !cut.includes(conversation))
      .map(
        ({ subtask, turn }) => `turn ${turn + 1} of ${subtask === '' ? 'a planner' : `the row ${subtask}`}`,
      ),
  };
}

function isOpen(
  { subtask, messages }: ModelCall,
  kill: WorkerKill,
  holds: readonly Hold[],
  plannedAt: ReadonlyMap<string, number | null>,
): boolean {
  if (subtask !== '')
    return holds.some(
      (hold) =>
        hold.subtask === subtask &&
        hold.pid === kill.pid &&
        hold.claimedAt <= kill.at &&
        (hold.finishedAt === null || hold.finishedAt > kill.at),
    );
  const task = /^task: (\S+)$/m.exec(String(messages[1]?.content ?? ''))?.[1] ?? '';
  const planned = plannedAt.get(task) ?? null;
  return planned === null || planned > kill.at;
}

function conversationOf({ messages }: ModelCall): string {
  const end = messages.findIndex(({ role }) => role === 'assistant');
  const first = end === -1 ? messages : messages.slice(0, end);
  const text = JSON.stringify(first.map(({ role, content }) => [role, withoutRun(String(content))]));
  return createHash('sha256').update(text).digest('hex');
}

/** Ids that are new with every attempt: see `thisRun` in src/agents/prompts.ts. */
function withoutRun(prompt: string): string {
  return prompt.replaceAll(/^(?:attempt|sandbox): .*$/gm, '');
}

function turnOf({ messages }: ModelCall): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}
