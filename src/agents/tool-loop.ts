import { PatchfleetError } from '../domain/failure.ts';
import { jsonObject } from '../domain/json-object.ts';
import type { RowLimits } from '../domain/matrix.ts';
import type { ModelMessage, ModelReply, ToolCall } from '../inference/port.ts';
import type { KeptTurn } from '../store/port/checkpoints.ts';
import { oneLine } from './clean-text.ts';
import { goOn } from './go-on.ts';
import type { FaultyCall } from './tool-set.ts';
import type { TranscriptEntry } from './transcript.ts';

/** Turns without any tool call, one after the other, before the model is given up. */
const silentTurns = 3;
/** Calls that cannot be run, one after the other, before the model is given up. */
const badCalls = 5;
/** From this many turns left on, the model is told. */
const warnAt = 3;

export interface LoopSteps<Call extends { readonly name: string }, Result> {
  /** One turn of the model. */
  readonly ask: (messages: readonly ModelMessage[]) => Promise<ModelReply>;
  /** A call as it may be run, or what is wrong with it. */
  readonly parse: (call: ToolCall) => Call | FaultyCall;
  /** Runs a valid call and gives the text for the model; `result` where the call ends the work. */
  readonly run: (call: Call) => Promise<string | Ending<Result>>;
  /** What the model is told that answered without a tool call. */
  readonly remindOfTools: string;
  /** What it should do in its last turns, e.g. `report what you have found, then call finish`. */
  readonly lastTurns: string;
  readonly record: (entry: TranscriptEntry) => void;
  readonly onProgress: () => void;
  /** Left out: turns are not kept. */
  readonly kept?: KeptSteps<Call, Result>;
}

/** How a loop goes on from turns that were finished before, and how its own are kept. */
export interface KeptSteps<Call extends { readonly name: string }, Result> {
  readonly before: readonly KeptTurn[];
  /**
   * Brings what the tools know to where a call had it, without doing it again; `text` is what it had answered.
   * An ending where the call ended the work.
   */
  readonly replay: (call: Call, text: string) => Ending<Result> | null;
  /** Whether a call may change the workspace. */
  readonly touches: (call: Call) => boolean;
  readonly keep: (turn: KeptTurn, touched: boolean) => Promise<void>;
}

export interface Ending<Result> {
  readonly text: string;
  readonly result: Result;
}

/**
 * Turns of model and tools until a call ends the work. Every tool call of a turn is answered, in order, before the
 * model is asked again. Fails with `turns_exhausted`, `budget_exhausted` (the attempt's own limit) or
 * `model_nonsense`, and with whatever `ask`, `run` and `keep` throw. Turns that were kept count as its own, against
 * its limits too; the model is not asked for them again.
 */
export async function runToolLoop<Call extends { readonly name: string }, Result>(
  first: readonly ModelMessage[],
  limits: Pick<RowLimits, 'turns' | 'tokens'>,
  steps: LoopSteps<Call, Result>,
): Promise<{ turns: number; result: Result }> {
  const messages: ModelMessage[] = [...first];
  const past = goOn(steps);
  if (past.ending !== null) return { turns: past.turns, result: past.ending.result };
  let { silent, spent } = past;
  let bad = 0;
  messages.push(...past.messages);
  let added: ModelMessage[] = [...past.note];
  if (past.turns > 0) requireRoom(spent, past.lastTurn, past.turns, limits.tokens);

  for (let turn = past.turns + 1; turn <= limits.turns; turn += 1) {
    const reply = await steps.ask([...messages, ...added]);
    steps.onProgress();
    steps.record({ type: 'reply', turn, ...reply });
    const tokens = reply.usage.promptTokens + reply.usage.completionTokens;
    spent += tokens;
    let ending: Ending<Result> | null = null;
    let touched = false;

    if (reply.toolCalls.length === 0) {
      silent += 1;
      if (silent >= silentTurns) {
        throw new PatchfleetError('model_nonsense', `${silent} answers in a row without a tool call`);
      }
      if (reply.content !== '') added.push({ role: 'assistant', content: reply.content, toolCalls: [] });
      added.push({ role: 'user', content: steps.remindOfTools });
      steps.record({ type: 'reminder', turn, content: steps.remindOfTools });
    } else {
      silent = 0;
      const toolCalls = reply.toolCalls.map(presentable);
      added.push({ role: 'assistant', content: reply.content, toolCalls });
      for (const [position, call] of reply.toolCalls.entries()) {
        const parsed = steps.parse(call);
        let result: string;
        if (isFaulty(parsed)) {
          bad += 1;
          result = `error: ${parsed.fault}`;
        } else {
          bad = 0;
          touched ||= steps.kept?.touches(parsed) ?? false;
          const answer = await steps.run(parsed);
          if (typeof answer !== 'string') ending ??= answer;
          result = typeof answer === 'string' ? answer : answer.text;
        }
        steps.onProgress();
        steps.record({ type: 'tool', turn, name: call.name, result });
        if (bad > badCalls) {
          throw new PatchfleetError(
            'model_nonsense',
            `${bad} tool calls in a row cannot be run; the last: ${oneLine(result, 300)}`,
          );
        }
        const left = limits.turns - turn;
        const isLast = position === reply.toolCalls.length - 1;
        const note = isLast && left > 0 && left <= warnAt ? `\n${remindOfTurns(left, steps.lastTurns)}` : '';
        added.push({ role: 'tool', toolCallId: toolCalls[position]?.id ?? call.id, content: result + note });
      }
    }
    await steps.kept?.keep({ turn, messages: added, tokens }, touched);
    // What was called beside the end is done all the same.
    if (ending !== null) {
      steps.record({ type: 'end', turns: turn, outcome: 'finished' });
      return { turns: turn, result: ending.result };
    }
    messages.push(...added);
    added = [];
    requireRoom(spent, tokens, turn, limits.tokens);
  }
  throw new PatchfleetError('turns_exhausted', `no end after ${limits.turns} turns`);
}

/** The next prompt holds at least the last one and its answer. */
function requireRoom(spent: number, lastTurn: number, turn: number, limit: number): void {
  if (spent + lastTurn <= limit) return;
  throw new PatchfleetError(
    'budget_exhausted',
    `the attempt has spent ${spent} of its ${limit} tokens in ${turn} turns, and the next turn does not fit`,
  );
}

function isFaulty(call: { readonly name: string } | FaultyCall): call is FaultyCall {
  return 'fault' in call && call.name === null;
}

function remindOfTurns(left: number, whatToDo: string): string {
  return `[${left} ${left === 1 ? 'turn' : 'turns'} left: ${whatToDo}]`;
}

/**
 * A call as it may stand in the next request: servers refuse names and arguments out of form even in the past.
 * The answer beside it quotes what was really sent.
 */
function presentable(call: ToolCall): ToolCall {
  const name = /^[a-zA-Z0-9_-]{1,64}$/.test(call.name) ? call.name : 'unknown';
  return { id: call.id, name, arguments: jsonObject(call.arguments) !== null ? call.arguments : '{}' };
}
