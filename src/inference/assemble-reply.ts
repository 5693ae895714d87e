import type OpenAI from 'openai';
import { nonsense } from './call-failure.ts';
import type { TokenUsage, ToolCall } from './port.ts';

/** A whole answer, put together from the pieces of its stream. */
export interface Answer {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  /** Null when the stream ended before the model said that it was done. */
  readonly finishReason: string | null;
  /** Null where the server sent none. */
  readonly usage: TokenUsage | null;
  /** Pieces seen; none means that the server sent something that is no stream. */
  readonly chunks: number;
}

/** Collects the pieces of one stream. `add` fails with {@link nonsense} for what is no piece of an answer. */
export function createAssembly(): { add(chunk: OpenAI.ChatCompletionChunk): void; answer(): Answer } {
  let content = '';
  let refusal = '';
  let finishReason: string | null = null;
  let usage: TokenUsage | null = null;
  let chunks = 0;
  const calls = new Map<number, { id: string; name: string; arguments: string }>();

  return {
    add(chunk) {
      if (typeof chunk !== 'object' || chunk === null)
        throw nonsense('the server sent a piece that is no object');
      chunks += 1;
      if (chunk.usage) usage = readUsage(chunk.usage);
      // The last piece, with the usage, has no choice; some servers leave the list out altogether.
      const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
      if (choice === undefined) return;
      if (choice.finish_reason) finishReason = choice.finish_reason;
      content += text(choice.delta?.content);
      refusal += text(choice.delta?.refusal);
      for (const piece of choice.delta?.tool_calls ?? []) {
        // Servers that send whole calls may leave the index out.
        const index = piece.index ?? calls.size;
        const call = calls.get(index) ?? { id: '', name: '', arguments: '' };
        calls.set(index, call);
        // Id and name come once; some servers repeat them with each piece.
        if (call.id === '') call.id = text(piece.id);
        if (call.name === '') call.name = text(piece.function?.name);
        call.arguments += text(piece.function?.arguments);
      }
    },
    answer() {
      if (refusal !== '' && content === '') content = refusal;
      const toolCalls = [...calls].sort(([a], [b]) => a - b).map(([, call]) => call);
      return { content, toolCalls: withUniqueIds(toolCalls), finishReason, usage, chunks };
    },
  };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Answers must be matched to calls by id, so each call of a turn gets one of its own where the server failed to. */
function withUniqueIds(calls: readonly ToolCall[]): ToolCall[] {
  const seen = new Set<string>();
  return calls.map((call) => {
    const id = call.id === '' || seen.has(call.id) ? newCallId() : call.id;
    seen.add(id);
    return { ...call, id };
  });
}

/** OpenAI takes ids of at most 40 characters. */
function newCallId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`;
}

function readUsage(usage: OpenAI.CompletionUsage): TokenUsage | null {
  const count = (value: unknown) =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.ceil(value) : null;
  const promptTokens = count(usage.prompt_tokens);
  const completionTokens = count(usage.completion_tokens);
  if (promptTokens === null || completionTokens === null) return null;
  return {
    promptTokens,
    cachedTokens: count(usage.prompt_tokens_details?.cached_tokens) ?? 0,
    completionTokens,
    estimated: false,
  };
}
