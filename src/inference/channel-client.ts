import OpenAI from 'openai';
import type { ChannelConfig } from '../config/operator-config.ts';
import { type Answer, createAssembly } from './assemble-reply.ts';
import { CallFailed, nonsense } from './call-failure.ts';
import { classifyError } from './classify-error.ts';
import type { ModelMessage, ModelRequest } from './port.ts';

export interface CallLimits {
  /** Wall-clock limit of the call, milliseconds. */
  readonly wallMs: number;
  /** No byte of the stream for this long ends the call, milliseconds. */
  readonly idleMs: number;
}

/** One call over one channel, without retries: a stream, read to its end. */
export interface ChannelClient {
  /** Fails with {@link CallFailed}, or with the signal's reason when it is aborted. */
  call(
    request: Pick<ModelRequest, 'messages' | 'tools'>,
    options: { signal: AbortSignal; onProgress: () => void; limits: CallLimits },
  ): Promise<Answer>;
}

export function createChannelClient(channel: ChannelConfig, key: string, now: () => number): ChannelClient {
  const client = new OpenAI({
    apiKey: key,
    baseURL: channel.base_url,
    // Retries are decided by the gateway, which knows the budget; the SDK would also retry time-outs.
    maxRetries: 0,
    // Nothing of the environment and nothing to the console: the SDK would print whole pieces of answers.
    organization: null,
    project: null,
    logLevel: 'off',
  });
  const limitName = outputLimitName(channel.base_url);

  return {
    async call(request, { signal, onProgress, limits }) {
      const body = {
        model: channel.model,
        messages: request.messages.map(toMessage),
        ...(request.tools.length > 0 && { tools: request.tools.map(toTool) }),
        [limitName]: channel.max_output_tokens,
        stream: true as const,
        stream_options: { include_usage: true },
      };
      const watch = watchCall(signal, limits);
      try {
        // The SDK's own limit is over the start alone; ours is over the whole call.
        const stream = await client.chat.completions.create(body, {
          signal: watch.signal,
          timeout: limits.wallMs + 60_000,
        });
        const assembly = createAssembly();
        for await (const chunk of stream) {
          watch.alive();
          onProgress();
          assembly.add(chunk);
        }
        // An aborted stream ends without an error in the SDK.
        watch.signal.throwIfAborted();
        return readAnswer(assembly.answer());
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (watch.signal.aborted) throw watch.signal.reason;
        if (error instanceof CallFailed) throw error;
        throw new CallFailed(classifyError(error, { key, now: now() }));
      } finally {
        watch.stop();
      }
    },
  };
}

/** Ends a call by its wall limit, or when its stream falls silent. */
function watchCall(outer: AbortSignal, limits: CallLimits) {
  const controller = new AbortController();
  const end = (detail: string) => () =>
    controller.abort(
      new CallFailed({
        code: 'model_timeout',
        detail,
        retryable: false,
        retryAfterMs: null,
        charged: 'maybe',
      }),
    );
  const wall = setTimeout(end(`no whole answer within ${limits.wallMs / 1000} s`), limits.wallMs);
  const idle = setTimeout(end(`no byte of an answer for ${limits.idleMs / 1000} s`), limits.idleMs);
  return {
    signal: AbortSignal.any([outer, controller.signal]),
    alive: () => void idle.refresh(),
    stop: () => {
      clearTimeout(wall);
      clearTimeout(idle);
    },
  };
}

function readAnswer(answer: Answer): Answer {
  if (answer.chunks === 0) throw nonsense('the server answered with something that is no event stream');
  if (answer.finishReason === null) {
    throw new CallFailed({
      code: 'model_unavailable',
      detail: 'the stream ended before the answer was complete',
      retryable: true,
      retryAfterMs: null,
      charged: 'maybe',
    });
  }
  return answer;
}

/**
 * OpenAI's newer models refuse `max_tokens`, and many compatible servers ignore `max_completion_tokens`, which
 * would leave the answer without a limit.
 */
function outputLimitName(baseUrl: string): 'max_completion_tokens' | 'max_tokens' {
  const host = new URL(baseUrl).hostname;
  return /(^|\.)openai\.(com|azure\.com)$/.test(host) ? 'max_completion_tokens' : 'max_tokens';
}

function toMessage(message: ModelMessage): OpenAI.ChatCompletionMessageParam {
  if (message.role === 'tool') {
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  }
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  if (message.toolCalls.length === 0) return { role: 'assistant', content: message.content };
  return {
    role: 'assistant',
    content: message.content === '' ? null : message.content,
    tool_calls: message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
  };
}

function toTool(tool: ModelRequest['tools'][number]): OpenAI.ChatCompletionTool {
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: { ...tool.parameters } },
  };
}
