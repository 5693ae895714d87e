import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { createAssembly } from '../../../src/inference/assemble-reply.ts';

type Chunk = OpenAI.ChatCompletionChunk;
const piece = (delta: object, finish_reason: string | null = null) =>
  ({ choices: [{ index: 0, delta, finish_reason }] }) as unknown as Chunk;

describe('the assembly of a streamed answer', () => {
  it('joins text, and tool calls whose pieces come mixed', () => {
    const assembly = createAssembly();
    for (const chunk of [
      piece({ role: 'assistant', content: 'Let ' }),
      piece({ content: 'me.' }),
      piece({ tool_calls: [{ index: 0, id: 'a', function: { name: 'read_file', arguments: '{"pa' } }] }),
      piece({ tool_calls: [{ index: 1, id: 'b', function: { name: 'search', arguments: '{}' } }] }),
      piece({ tool_calls: [{ index: 0, function: { arguments: 'th":"x"}' } }] }),
      piece({}, 'tool_calls'),
      {
        choices: [],
        usage: { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 5 } },
      },
    ]) {
      assembly.add(chunk as Chunk);
    }
    expect(assembly.answer()).toEqual({
      content: 'Let me.',
      toolCalls: [
        { id: 'a', name: 'read_file', arguments: '{"path":"x"}' },
        { id: 'b', name: 'search', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: { promptTokens: 7, cachedTokens: 5, completionTokens: 3, estimated: false },
      chunks: 7,
    });
  });

  it('gives each call an id of its own where the server gives none, or one twice', () => {
    const assembly = createAssembly();
    assembly.add(
      piece({
        tool_calls: [
          { function: { name: 'a', arguments: '{}' } },
          { id: 'same', function: { name: 'b', arguments: '{}' } },
          { id: 'same', function: { name: 'c', arguments: '{}' } },
        ],
      }),
    );
    const { toolCalls } = assembly.answer();
    expect(toolCalls.map((call) => call.name)).toEqual(['a', 'b', 'c']);
    expect(new Set(toolCalls.map((call) => call.id)).size).toBe(3);
    expect(toolCalls.every((call) => /^[\w-]{1,40}$/.test(call.id))).toBe(true);
  });

  it.each([null, 'text', 3])('refuses a piece that is %j', (chunk) => {
    expect(() => createAssembly().add(chunk as unknown as Chunk)).toThrow(/no object/);
  });
});
