import { describe, expect, it } from 'vitest';
import { reviewTools } from '../../../src/agents/tool-definitions.ts';
import { type KeptSteps, runToolLoop } from '../../../src/agents/tool-loop.ts';
import type { ModelMessage, ModelReply } from '../../../src/inference/port.ts';
import type { KeptTurn } from '../../../src/store/port/checkpoints.ts';

type Call = Exclude<ReturnType<typeof reviewTools.parse>, { name: null }>;
type Said = [name: string, args: object][];

const first: ModelMessage[] = [{ role: 'user', content: 'go' }];

/** Plays a model whose turns are given, over what was kept; `asked` holds the turn numbers it was asked for. */
async function play(
  turns: readonly Said[],
  before: readonly KeptTurn[],
  limits = { turns: 10, tokens: 10_000 },
) {
  const asked: number[] = [];
  const prompts: (readonly ModelMessage[])[] = [];
  const ran: string[] = [];
  const replayed: string[] = [];
  const kept: { turn: KeptTurn; touched: boolean }[] = [];
  const steps: KeptSteps<Call, string> = {
    before,
    replay: (call, text) => {
      replayed.push(`${call.name}: ${text}`);
      return call.name === 'finish' ? { text: 'finished', result: call.arguments.summary } : null;
    },
    touches: (call) => call.name === 'run_command',
    keep: async (turn, touched) => void kept.push({ turn, touched }),
  };
  const outcome = await runToolLoop<Call, string>(first, limits, {
    ask: async (messages) => {
      const turn = messages.filter(({ role }) => role === 'assistant').length + 1;
      asked.push(turn);
      prompts.push(structuredClone(messages));
      const calls = turns[turn - 1] ?? [];
      return {
        content: '',
        toolCalls: calls.map(([name, args], index) => ({
          id: `c${turn}.${index}`,
          name,
          arguments: JSON.stringify(args),
        })),
        finishReason: 'stop',
        usage: { promptTokens: 60, cachedTokens: 0, completionTokens: 40, estimated: false },
      } satisfies ModelReply;
    },
    parse: reviewTools.parse,
    run: async (call) => {
      if (call.name === 'finish') return { text: 'finished', result: call.arguments.summary };
      ran.push(call.name);
      return `did ${call.name}`;
    },
    remindOfTools: 'Use the tools.',
    lastTurns: 'finish',
    record: () => {},
    onProgress: () => {},
    kept: steps,
  }).catch((error: unknown) => error);
  return { outcome, asked, prompts, ran, replayed, kept };
}

const read: Said = [['read_file', { path: 'a' }]];
const look: Said = [['list_files', {}]];
const run: Said = [['run_command', { argv: ['make'] }]];
const finish: Said = [['finish', { summary: 'Done.' }]];
const turnsOf = (kept: { turn: KeptTurn }[]) => kept.map(({ turn }) => turn);

describe('a loop whose turns are kept', () => {
  it.each([1, 2, 3])(
    'ends the same when it goes on after turn %i, and asks for no turn twice',
    async (cut) => {
      const turns = [read, run, look, finish];
      const whole = await play(turns, []);
      expect(whole.outcome).toEqual({ turns: 4, result: 'Done.' });
      expect(whole.kept.map(({ touched }) => touched)).toEqual([false, true, false, false]);

      const rest = await play(turns, turnsOf(whole.kept).slice(0, cut));
      expect(rest.outcome).toEqual(whole.outcome);
      expect(rest.asked).toEqual([1, 2, 3, 4].slice(cut));
      expect(rest.ran).toEqual(['read_file', 'run_command', 'list_files'].slice(cut));
      expect(rest.replayed).toHaveLength(cut);
      // The conversation is the same but for the word that it moved, where files may have been lost.
      const moved = rest.prompts[0]?.filter(({ content }) => content.startsWith('[The work was interrupted'));
      expect(moved).toHaveLength(cut >= 2 ? 1 : 0);
      expect(rest.prompts[0]?.slice(0, whole.prompts[cut]?.length)).toEqual(whole.prompts[cut]);
      // What is kept joins to one conversation again.
      const joined = [...turnsOf(whole.kept).slice(0, cut), ...turnsOf(rest.kept)];
      expect(joined.map(({ turn }) => turn)).toEqual([1, 2, 3, 4]);
      expect(joined.flatMap(({ messages }) => messages).filter((one) => !moved?.includes(one)).length).toBe(
        turnsOf(whole.kept).flatMap(({ messages }) => messages).length + (moved?.length ?? 0),
      );
    },
  );

  it('is over without a question where the last turn had ended it', async () => {
    const { kept } = await play([read, finish], []);
    const again = await play([], turnsOf(kept));
    expect(again.outcome).toEqual({ turns: 2, result: 'Done.' });
    expect(again.asked).toEqual([]);
    expect(again.kept).toEqual([]);
    expect(again.replayed).toEqual(['read_file: did read_file', 'finish: finished']);
  });

  it('counts the turns and tokens of before against its limits', async () => {
    const { kept } = await play([read, look, read], [], { turns: 3, tokens: 10_000 });
    expect(await play([read], turnsOf(kept), { turns: 3, tokens: 10_000 })).toMatchObject({
      outcome: { code: 'turns_exhausted' },
      asked: [],
    });
    // 300 spent; the next turn is taken for one of 100.
    expect(await play([read, read, read, finish], turnsOf(kept), { turns: 9, tokens: 399 })).toMatchObject({
      outcome: { code: 'budget_exhausted' },
      asked: [],
    });
    expect(await play([read, read, read, finish], turnsOf(kept), { turns: 9, tokens: 400 })).toMatchObject({
      outcome: { turns: 4 },
      asked: [4],
    });
  });

  it('counts silent turns of before', async () => {
    const silent = (turn: number): KeptTurn => ({
      turn,
      tokens: 1,
      messages: [
        { role: 'assistant', content: 'hm', toolCalls: [] },
        { role: 'user', content: 'Use the tools.' },
      ],
    });
    const { outcome, asked } = await play([[], [], []], [silent(1), silent(2)]);
    expect(outcome).toMatchObject({ code: 'model_nonsense' });
    expect(asked).toEqual([3]);
  });
});
