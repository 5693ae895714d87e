import fc from 'fast-check';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { createAssembly } from '../../../src/inference/assemble-reply.ts';

/** Cuts a text into pieces at the given places. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end));
}

describe('the assembly of a streamed answer', () => {
  it('gives the same answer however its stream was cut', () => {
    const places = fc.array(fc.nat(200), { maxLength: 6 });
    const call = fc.record({ name: fc.string({ minLength: 1 }), arguments: fc.json(), places });
    fc.assert(
      fc.property(fc.string(), places, fc.array(call, { maxLength: 4 }), (content, cuts, calls) => {
        const assembly = createAssembly();
        const add = (delta: object, finish_reason: string | null = null) =>
          assembly.add({
            choices: [{ index: 0, delta, finish_reason }],
          } as unknown as OpenAI.ChatCompletionChunk);
        for (const piece of cut(content, cuts)) add({ content: piece });
        const pieces = calls.map((one) => cut(one.arguments, one.places));
        // All calls begin, then their pieces come in turns.
        for (const [index, one] of calls.entries()) {
          add({ tool_calls: [{ index, id: `id${index}`, function: { name: one.name, arguments: '' } }] });
        }
        for (let round = 0; pieces.some((list) => round < list.length); round += 1) {
          for (const [index, list] of pieces.entries()) {
            const piece = list[round];
            if (piece !== undefined) add({ tool_calls: [{ index, function: { arguments: piece } }] });
          }
        }
        add({}, 'stop');
        expect(assembly.answer()).toMatchObject({
          content,
          toolCalls: calls.map((one, index) => ({
            id: `id${index}`,
            name: one.name,
            arguments: one.arguments,
          })),
          finishReason: 'stop',
          usage: null,
        });
      }),
    );
  });
});
