import type { ModelMessage } from '../inference/port.ts';
import type { Ending, KeptSteps, LoopSteps } from './tool-loop.ts';
import type { FaultyCall } from './tool-set.ts';

/** Where a loop stands that goes on from turns of an earlier attempt. */
export interface PastTurns<Result> {
  readonly turns: number;
  readonly messages: readonly ModelMessage[];
  /** What the model is told before it goes on. */
  readonly note: readonly ModelMessage[];
  readonly spent: number;
  /** Tokens of the last turn. */
  readonly lastTurn: number;
  /** Turns without any tool call at the end. */
  readonly silent: number;
  /** Set where the last turn ended the work. */
  readonly ending: Ending<Result> | null;
}

/** Replays what was kept: the tools learn what they had known, and nothing is run or asked. */
export function goOn<Call extends { readonly name: string }, Result>(
  steps: Pick<LoopSteps<Call, Result>, 'parse' | 'kept'>,
): PastTurns<Result> {
  const before = steps.kept?.before ?? [];
  const messages = before.flatMap((turn) => turn.messages);
  let silent = 0;
  let touched = false;
  let ending: Ending<Result> | null = null;
  for (const turn of before) {
    const called = steps.kept === undefined ? null : replay(turn.messages, steps.parse, steps.kept);
    if (called === null) {
      silent += 1;
      continue;
    }
    silent = 0;
    touched ||= called.touched;
    ending ??= called.ending;
  }
  return {
    turns: before.length,
    messages,
    note: touched ? [{ role: 'user', content: moved }] : [],
    spent: before.reduce((sum, turn) => sum + turn.tokens, 0),
    lastTurn: before.at(-1)?.tokens ?? 0,
    silent,
    ending,
  };
}

const moved =
  '[The work was interrupted and goes on in a new sandbox. The files are as you left them, except those that git ignores and those outside of the repository, which are gone; nothing that you started runs any more.]';

/** Null: the turn called nothing. */
function replay<Call extends { readonly name: string }, Result>(
  messages: readonly ModelMessage[],
  parse: LoopSteps<Call, Result>['parse'],
  kept: KeptSteps<Call, Result>,
): { touched: boolean; ending: Ending<Result> | null } | null {
  const answers = new Map(
    messages.flatMap((message) => (message.role === 'tool' ? [[message.toolCallId, message.content]] : [])),
  );
  let touched = false;
  let ending: Ending<Result> | null = null;
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []));
  for (const call of calls) {
    const parsed: Call | FaultyCall = parse(call);
    if ('fault' in parsed) continue;
    touched ||= kept.touches(parsed);
    const ended = kept.replay(parsed, answers.get(call.id) ?? '');
    ending ??= ended;
  }
  return calls.length === 0 ? null : { touched, ending };
}
