import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelConfig, Limits } from '../config/operator-config.ts';
import { PatchfleetError } from '../domain/failure.ts';
import { createSlots, type Slots } from '../domain/slots.ts';
import type { Answer } from './assemble-reply.ts';
import { CallFailed, nonsense } from './call-failure.ts';
import { type CallLimits, type ChannelClient, createChannelClient } from './channel-client.ts';
import { estimatePromptTokens } from './estimate-tokens.ts';
import type {
  BudgetLedger,
  CallContext,
  ModelGateway,
  ModelReply,
  ModelRequest,
  TokenUsage,
} from './port.ts';
import { costMicros } from './price.ts';
import { retryDelay } from './retry-schedule.ts';
import { createCallSharing } from './share-calls.ts';

export interface GatewayOptions {
  readonly channels: readonly ChannelConfig[];
  /** Value of an environment variable that holds a key; asked when a channel is first used. */
  readonly keys: (env: string) => string | undefined;
  readonly ledger: BudgetLedger;
  readonly limits: Pick<Limits, 'model_call_seconds' | 'idle_seconds'>;
  readonly log: { warn(fields: object, message: string): void };
  /** Milliseconds; for `retry-after` dates. */
  readonly now?: () => number;
  /** In [0, 1); spreads retries. */
  readonly random?: () => number;
}

interface Channel {
  readonly config: ChannelConfig;
  readonly slots: Slots;
  readonly client: ChannelClient;
}

/** The one way to a model: bounds, budget and retries around the channels of the operator file. */
export function createModelGateway(options: GatewayOptions): ModelGateway {
  const { ledger, log, now = Date.now, random = Math.random } = options;
  const opened = new Map<string, Channel>();
  const limits: CallLimits = {
    wallMs: options.limits.model_call_seconds * 1000,
    // Before the attempt's own idle limit, so that a silent model is named as what failed.
    idleMs: options.limits.idle_seconds * 750,
  };

  const open = (name: string): Channel => {
    const known = opened.get(name);
    if (known !== undefined) return known;
    const channel = openChannel(name, options, now);
    opened.set(name, channel);
    return channel;
  };

  const share = createCallSharing();

  return {
    async complete(request, context) {
      const channel = open(request.channel);
      if (request.identity === undefined) return complete(channel, request, context);
      const caller = {
        signal: context.signal,
        wait: <T>(work: Promise<T>) => waitAlive(work, context),
        call: () => complete(channel, request, context),
        isOwn: (error: unknown) => error instanceof PatchfleetError && error.code === 'budget_exhausted',
      };
      return share(`${request.channel} ${request.identity}`, caller);
    },
  };

  async function complete(
    channel: Channel,
    request: ModelRequest,
    context: CallContext,
  ): Promise<ModelReply> {
    const reserved = reservationFor(channel.config, request);
    for (let failures = 1; ; failures += 1) {
      try {
        return await callOnce(channel, request, context, reserved);
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error;
        const { failure } = error;
        const delay = retryDelay(failure, failures, random());
        log.warn(
          { channel: channel.config.name, attempt: context.attemptId, ...failure, delay },
          delay === null ? 'a model call failed' : 'a model call failed and is tried again',
        );
        if (delay === null) {
          const tries = failures === 1 ? '' : ` (${failures} tries)`;
          throw new PatchfleetError(
            failure.code,
            `channel "${channel.config.name}": ${failure.detail}${tries}`,
          );
        }
        await waitAlive(sleep(delay, undefined, { signal: context.signal }), context);
      }
    }
  }

  async function callOnce(
    channel: Channel,
    request: ModelRequest,
    context: CallContext,
    reserved: { promptTokens: number; outputTokens: number },
  ): Promise<ModelReply> {
    const { config } = channel;
    const giveBack = await waitAlive(channel.slots.take(context.signal), context);
    try {
      const tokens = reserved.promptTokens + reserved.outputTokens;
      const reservation = await ledger.reserve(context, config.name, config.model, tokens);
      if (reservation === null) {
        throw new PatchfleetError('budget_exhausted', `the next model call needs up to ${tokens} tokens`);
      }
      const whole: TokenUsage = {
        promptTokens: reserved.promptTokens,
        cachedTokens: 0,
        completionTokens: reserved.outputTokens,
        estimated: true,
      };
      const settle = (usage: TokenUsage) =>
        ledger.settle(reservation, usage, costMicros(config.price, usage));
      let answer: Answer;
      try {
        answer = await channel.client.call(request, {
          signal: context.signal,
          onProgress: context.onProgress,
          limits,
        });
      } catch (error) {
        if (error instanceof CallFailed && error.failure.charged === 'no') await ledger.release(reservation);
        else await settle(whole);
        throw error;
      }
      const usage = answer.usage ?? whole;
      await settle(usage);
      return usable(answer, usage);
    } finally {
      giveBack();
    }
  }
}

function openChannel(name: string, options: GatewayOptions, now: () => number): Channel {
  const config = options.channels.find((channel) => channel.name === name);
  if (config === undefined) {
    const known = options.channels.map((channel) => `"${channel.name}"`).join(', ') || 'none';
    throw new PatchfleetError(
      'config_invalid',
      `no channel is named "${name}"; patchfleet.yml has: ${known}`,
    );
  }
  const key = options.keys(config.key_env);
  if (key === undefined || key === '') {
    throw new PatchfleetError('model_refused', `${config.key_env} is not set (the key of channel "${name}")`);
  }
  return { config, slots: createSlots(config.concurrent), client: createChannelClient(config, key, now) };
}

/** What a call may cost at most. Fails with `context_exceeded` when it cannot fit the model. */
function reservationFor(config: ChannelConfig, request: ModelRequest) {
  const promptTokens = estimatePromptTokens(request);
  const outputTokens = config.max_output_tokens;
  if (promptTokens + outputTokens > config.context_tokens) {
    throw new PatchfleetError(
      'context_exceeded',
      `about ${promptTokens} tokens of prompt and ${outputTokens} of answer, for a context of ${config.context_tokens}`,
    );
  }
  return { promptTokens, outputTokens };
}

/** The reply of an answer that can be used as such. A cut-off answer counts only for its complete tool calls. */
function usable(answer: Answer, usage: TokenUsage): ModelReply {
  const { content, finishReason } = answer;
  if (finishReason === 'content_filter') {
    throw new CallFailed({
      code: 'model_refused',
      detail: 'its content filter stopped the answer',
      retryable: false,
      retryAfterMs: null,
      charged: 'maybe',
    });
  }
  if (finishReason !== 'length') {
    return { content, toolCalls: answer.toolCalls, finishReason: finishReason ?? '', usage };
  }
  const toolCalls = answer.toolCalls.filter((call) => call.name !== '' && isJson(call.arguments));
  if (toolCalls.length === 0) {
    throw nonsense(
      `the answer was cut off at ${usage.completionTokens} tokens (finish_reason "length"); raise max_output_tokens`,
    );
  }
  return { content, toolCalls, finishReason, usage };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Waiting for a slot or for the server's limit is no idleness of the agent. */
async function waitAlive<T>(work: Promise<T>, context: CallContext): Promise<T> {
  const beat = setInterval(context.onProgress, 1000);
  try {
    return await work;
  } catch (error) {
    context.signal.throwIfAborted();
    throw error;
  } finally {
    clearInterval(beat);
  }
}
