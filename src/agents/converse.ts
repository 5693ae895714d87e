import { createHash } from 'node:crypto';
import type { ModelAgentConfig } from '../config/agent-config.ts';
import { toFailure } from '../domain/failure.ts';
import type { ModelGateway, ModelMessage, ToolDefinition } from '../inference/port.ts';
import type { Assignment } from './port.ts';
import { thisRun } from './prompts.ts';
import { type KeptSteps, type LoopSteps, runToolLoop } from './tool-loop.ts';
import { createTranscript } from './transcript.ts';

export interface Conversation<Call extends { readonly name: string }, Result>
  extends Pick<LoopSteps<Call, Result>, 'parse' | 'run' | 'remindOfTools' | 'lastTurns'>,
    Pick<KeptSteps<Call, Result>, 'replay' | 'touches'> {
  readonly first: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
}

/**
 * One attempt of a model agent: the loop within the row's limits, from the turns on that an earlier attempt has
 * finished, its transcript written as it goes. Fails as the loop, the gateway and the sandbox do; the last entry of
 * the transcript says how it ended.
 */
export async function converse<Call extends { readonly name: string }, Result>(
  deps: { readonly gateway: ModelGateway; readonly agent: Pick<ModelAgentConfig, 'name' | 'channel'> },
  assignment: Omit<Assignment, 'changes'>,
  { first, tools, replay, touches, ...conversation }: Conversation<Call, Result>,
): Promise<{ turns: number; result: Result }> {
  const { signal, onProgress, keeper } = assignment;
  const { channel } = deps.agent;
  const record = createTranscript(assignment.onLog);
  record({ type: 'prompt', messages: first.map(({ role, content }) => ({ role, content })) });
  const beginning = digestOf([deps.agent.name, channel, withoutIds(first, assignment), tools]);
  let turns = 0;
  try {
    const before = await keeper.resume(beginning);
    turns = before.length;
    if (turns > 0) record({ type: 'resumed', turns, messages: before.flatMap(({ messages }) => messages) });
    return await runToolLoop(first, assignment.row.limits, {
      ...conversation,
      ask: (messages) => {
        turns += 1;
        // The ids of this attempt are told, and change no answer.
        const identity = digestOf([beginning, messages.slice(first.length)]);
        return deps.gateway.complete({ channel, messages, tools, identity }, assignment);
      },
      record,
      onProgress,
      kept: { before, replay, touches, keep: (turn, touched) => keeper.keep(turn, touched) },
    });
  } catch (error) {
    const { code, detail } = toFailure(signal.aborted ? signal.reason : error);
    record({ type: 'end', turns, outcome: `${code}: ${detail}` });
    throw error;
  }
}

/** What is said to every attempt of the row in the same words. */
function withoutIds(first: readonly ModelMessage[], assignment: Parameters<typeof thisRun>[0]) {
  const ids = thisRun(assignment);
  return first.map(({ role, content }) => [
    role,
    content.endsWith(ids) ? content.slice(0, -ids.length) : content,
  ]);
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
