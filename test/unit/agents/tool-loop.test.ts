import { describe, expect, it } from 'vitest';
import { reviewTools } from '../../../src/agents/tool-definitions.ts';
import { runToolLoop } from '../../../src/agents/tool-loop.ts';
import type { TranscriptEntry } from '../../../src/agents/transcript.ts';
import type { ModelMessage, ModelReply } from '../../../src/inference/port.ts';

type Turn = { content?: string; calls?: [string, string][]; tokens?: number };

function call(name: string, args: unknown): [string, string] {
  return [name, typeof args === 'string' ? args : JSON.stringify(args)];
}
const read = call('read_file', { path: 'a' });
const finish = call('finish', { summary: ' All read. ' });

/** Plays turns; the last one repeats. */
async function play(turns: readonly Turn[], limits = { turns: 10, tokens: 1_000_000 }) {
  const prompts: ModelMessage[][] = [];
  const ran: string[] = [];
  const recorded: TranscriptEntry[] = [];
  const outcome = await runToolLoop([{ role: 'user', content: 'go' }], limits, {
    ask: async (messages) => {
      prompts.push([...messages]);
      const turn = turns[Math.min(prompts.length, turns.length) - 1] ?? {};
      const reply: ModelReply = {
        content: turn.content ?? '',
        toolCalls: (turn.calls ?? []).map(([name, args], index) => ({
          id: `c${prompts.length}.${index}`,
          name,
          arguments: args,
        })),
        finishReason: 'stop',
        usage: { promptTokens: turn.tokens ?? 10, cachedTokens: 0, completionTokens: 0, estimated: false },
      };
      return reply;
    },
    parse: reviewTools.parse,
    run: async (parsed) => {
      if (parsed.name === 'finish') return { text: 'finished', result: parsed.arguments.summary.trim() };
      ran.push(parsed.name);
      return `did ${parsed.name}`;
    },
    remindOfTools: 'Use the tools, then finish.',
    lastTurns: 'finish',
    record: (entry) => recorded.push(entry),
    onProgress: () => {},
  }).catch((error: unknown) => error);
  return { outcome, prompts, ran, recorded };
}

describe('the tool loop', () => {
  it('answers the calls of a turn in order and ends with finish, doing what was called beside it', async () => {
    const { outcome, prompts, ran } = await play([
      { content: 'I look.', calls: [read, call('list_files', {})] },
      { calls: [finish, call('search', { pattern: 'x', path: null })] },
    ]);
    expect(outcome).toEqual({ turns: 2, result: 'All read.' });
    expect(ran).toEqual(['read_file', 'list_files', 'search']);
    expect(prompts[1]).toEqual([
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'I look.',
        toolCalls: [
          { id: 'c1.0', name: 'read_file', arguments: '{"path":"a"}' },
          { id: 'c1.1', name: 'list_files', arguments: '{}' },
        ],
      },
      { role: 'tool', toolCallId: 'c1.0', content: 'did read_file' },
      { role: 'tool', toolCallId: 'c1.1', content: 'did list_files' },
    ]);
  });

  it.each([
    [
      'an unknown tool',
      call('delete all!', {}),
      'unknown',
      '{}',
      /there is no tool "delete all!"; there are: list_files/,
    ],
    ['arguments that are no JSON', call('search', '{"pat'), 'search', '{}', /not valid JSON: {"pat/],
    [
      'arguments that lack one',
      call('read_file', { start_line: 0 }),
      'read_file',
      '{"start_line":0}',
      /path: .*; start_line: /,
    ],
  ])(
    'tells the model of %s, and puts nothing into the history that an API refuses',
    async (_, bad, name, args, fault) => {
      const { outcome, prompts, ran } = await play([{ calls: [bad] }, { calls: [finish] }]);
      expect(outcome).toEqual({ turns: 2, result: 'All read.' });
      expect(ran).toEqual([]);
      const [, assistant, answer] = prompts[1] ?? [];
      expect(assistant).toEqual({
        role: 'assistant',
        content: '',
        toolCalls: [{ id: 'c1.0', name, arguments: args }],
      });
      expect(answer).toMatchObject({
        role: 'tool',
        toolCallId: 'c1.0',
        content: expect.stringMatching(fault),
      });
    },
  );

  it('gives the model up after six calls in a row that cannot be run', async () => {
    const bad = call('nothing', {});
    const { outcome, prompts } = await play([
      { calls: [bad, bad, bad, bad, bad, read] },
      { calls: [bad, bad, bad] },
    ]);
    expect(outcome).toMatchObject({ code: 'model_nonsense' });
    expect(prompts).toHaveLength(3);
  });

  it('reminds of the tools, and gives the model up after three answers in a row without any', async () => {
    const { outcome, prompts } = await play([
      { content: 'LGTM' },
      { calls: [read] },
      { content: 'Fine.' },
      {},
    ]);
    expect(outcome).toMatchObject({ code: 'model_nonsense' });
    expect(prompts).toHaveLength(5);
    expect(prompts[1]?.slice(1)).toEqual([
      { role: 'assistant', content: 'LGTM', toolCalls: [] },
      { role: 'user', content: expect.stringContaining('finish') },
    ]);
  });

  it('ends when the turns are used up, and says before how many are left', async () => {
    const { outcome, prompts } = await play([{ calls: [read] }], { turns: 4, tokens: 1_000_000 });
    expect(outcome).toMatchObject({ code: 'turns_exhausted' });
    expect(prompts.map((messages) => messages.at(-1)?.content)).toEqual([
      'go',
      expect.stringContaining('[3 turns left'),
      expect.stringContaining('[2 turns left'),
      expect.stringContaining('[1 turn left'),
    ]);
  });

  it('ends before the turn that would go over the tokens of the attempt', async () => {
    const { outcome, prompts } = await play([{ calls: [read], tokens: 400 }], { turns: 10, tokens: 1000 });
    expect(outcome).toMatchObject({ code: 'budget_exhausted' });
    expect(prompts).toHaveLength(2);
  });

  it('counts a finish within the tokens as an end', async () => {
    const { outcome } = await play([{ calls: [finish], tokens: 5000 }], { turns: 10, tokens: 1000 });
    expect(outcome).toEqual({ turns: 1, result: 'All read.' });
  });
});
