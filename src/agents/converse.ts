import type { ModelAgentConfig } from '../config/agent-config.ts';
import { toFailure } from '../domain/failure.ts';
import type { ModelGateway, ModelMessage, ToolDefinition } from '../inference/port.ts';
import type { Assignment } from './port.ts';
import { type LoopSteps, runToolLoop } from './tool-loop.ts';
import { createTranscript } from './transcript.ts';

export interface Conversation<Call extends { readonly name: string }, Result>
  extends Pick<LoopSteps<Call, Result>, 'parse' | 'run' | 'remindOfTools' | 'lastTurns'> {
  readonly first: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
}

/**
 * One attempt of a model agent: the loop within the row's limits, its transcript written as it goes. Fails as the
 * loop, the gateway and the sandbox do; the last entry of the transcript says how it ended.
 */
export async function converse<Call extends { readonly name: string }, Result>(
  deps: { readonly gateway: ModelGateway; readonly channel: ModelAgentConfig['channel'] },
  assignment: Omit<Assignment, 'changes'>,
  { first, tools, ...conversation }: Conversation<Call, Result>,
): Promise<{ turns: number; result: Result }> {
  const { signal, onProgress } = assignment;
  const record = createTranscript(assignment.onLog);
  record({ type: 'prompt', messages: first.map(({ role, content }) => ({ role, content })) });
  let turns = 0;
  try {
    return await runToolLoop(first, assignment.row.limits, {
      ...conversation,
      ask: (messages) => {
        turns += 1;
        return deps.gateway.complete({ channel: deps.channel, messages, tools }, assignment);
      },
      record,
      onProgress,
    });
  } catch (error) {
    const { code, detail } = toFailure(signal.aborted ? signal.reason : error);
    record({ type: 'end', turns, outcome: `${code}: ${detail}` });
    throw error;
  }
}
