import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { channelSchema } from '../../../src/config/operator-config.ts';
import { PatchfleetError } from '../../../src/domain/failure.ts';
import { createModelGateway } from '../../../src/inference/gateway.ts';
import type { ModelMessage } from '../../../src/inference/port.ts';
import { createModelDouble, type ModelDouble } from '../../support/model/create-model-double.ts';
import { createMemoryLedger } from '../../support/model/memory-ledger.ts';

const key = 'sk-canary-0123456789abcdef';
const messages: ModelMessage[] = [{ role: 'user', content: '## Inputs\n- "src/a.ts"\n' }];
const request = { channel: 'default', messages, tools: [] };

/** Nobody listens there: it is none of the ports that are given out. */
const nobody = 'http://127.0.0.1:2/v1';

let double: ModelDouble;
beforeAll(async () => {
  double = await createModelDouble();
});
afterAll(() => double.close());
beforeEach(() => {
  double.configure({});
  double.clearJournal();
});

function open(
  options: { budget?: number; channel?: object; callSeconds?: number; keys?: () => string | undefined } = {},
) {
  const ledger = createMemoryLedger(options.budget);
  const logged: unknown[] = [];
  const gateway = createModelGateway({
    channels: [
      channelSchema.parse({
        name: 'default',
        base_url: double.baseUrl,
        model: double.model,
        ...options.channel,
      }),
    ],
    keys: options.keys ?? (() => key),
    ledger,
    limits: { model_call_seconds: options.callSeconds ?? 20, idle_seconds: 60 },
    log: { warn: (fields, text) => logged.push([text, fields]) },
    random: () => 0,
  });
  return { gateway, ledger, logged };
}

function context(signal = new AbortController().signal, onProgress = () => {}) {
  return { taskId: 'task', subtaskId: 'subtask', attemptId: 'attempt', signal, onProgress };
}

async function failureOf(work: Promise<unknown>): Promise<PatchfleetError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PatchfleetError)) throw new Error(`not refused as such: ${String(error)}`);
  return error;
}

describe('the model gateway', () => {
  it('assembles a streamed answer with tool calls, and settles what the server counted', async () => {
    let progress = 0;
    const { gateway, ledger } = open({ channel: { price: { input: 1, output: 10 } } });
    const reply = await gateway.complete(
      request,
      context(undefined, () => (progress += 1)),
    );
    expect(reply).toEqual({
      content: 'I read the first file.',
      toolCalls: [
        { id: 'call_0000', name: 'read_file', arguments: '{"path":"src/a.ts"}' },
        { id: 'call_0001', name: 'list_files', arguments: '{}' },
      ],
      finishReason: 'tool_calls',
      usage: {
        promptTokens: expect.any(Number),
        cachedTokens: 0,
        completionTokens: expect.any(Number),
        estimated: false,
      },
    });
    expect(progress).toBeGreaterThan(1);
    const { promptTokens, completionTokens } = reply.usage;
    expect(ledger.reservations).toEqual([
      {
        tokens: expect.any(Number),
        outcome: { usage: reply.usage, costMicros: promptTokens + 10 * completionTokens },
      },
    ]);
    expect(ledger.reservations[0]?.tokens).toBeGreaterThan(4096);
    expect(double.journal().map(({ status, key, aborted }) => ({ status, key, aborted }))).toEqual([
      { status: 200, key, aborted: false },
    ]);
  });

  it('takes messages back that answer the tool calls, in the form the API wants', async () => {
    const { gateway } = open();
    const first = await gateway.complete(request, context());
    const next: ModelMessage[] = [
      ...messages,
      { role: 'assistant', content: first.content, toolCalls: first.toolCalls },
      ...first.toolCalls.map((call) => ({ role: 'tool' as const, toolCallId: call.id, content: 'text' })),
    ];
    const second = await gateway.complete({ ...request, messages: next }, context());
    expect(second.toolCalls.map((call) => call.name)).toEqual(['finish']);
    expect(double.journal().map((entry) => entry.refusal)).toEqual([null, null]);
  });

  it('is refused by the API when a tool call is left without an answer', async () => {
    const { gateway } = open();
    const orphaned: ModelMessage[] = [
      ...messages,
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'search', arguments: '{}' }] },
    ];
    const error = await failureOf(gateway.complete({ ...request, messages: orphaned }, context()));
    expect(error.code).toBe('model_refused');
    expect(error.detail).toContain('must be followed by tool messages');
  });

  it('tries again after server errors, and releases what they reserved', async () => {
    double.configure({ mode: 'error500', times: 2 });
    const { gateway, ledger, logged } = open();
    const reply = await gateway.complete(request, context());
    expect(reply.toolCalls).toHaveLength(2);
    expect(ledger.reservations.map((one) => one.outcome)).toEqual([
      'released',
      'released',
      { usage: reply.usage, costMicros: 0 },
    ]);
    expect(logged).toHaveLength(2);
  });

  it('waits as long as a rate limit says', async () => {
    double.configure({ mode: 'rate_limit', times: 1 });
    const { gateway } = open();
    await gateway.complete(request, context());
    const [first, second] = double.journal();
    // A second, less what a timer may be early; the double sees the end of an answer after its reader may have.
    expect((second?.startedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it.each([
    ['error500', 'model_unavailable', 3, '500 The server had an error'],
    ['quota', 'model_refused', 1, 'exceeded your current quota'],
    ['bad_key', 'model_refused', 1, 'Incorrect API key provided: [key]'],
    ['nonsense_html', 'model_nonsense', 1, 'no event stream'],
    ['nonsense_sse', 'model_nonsense', 1, 'not valid JSON'],
    ['length', 'model_nonsense', 1, 'cut off'],
    ['content_filter', 'model_refused', 1, 'content filter'],
    ['cut', 'model_unavailable', 3, 'connection broke'],
  ] as const)('names what failed when the model is in the mode %s', async (mode, code, calls, detail) => {
    double.configure({ mode });
    const { gateway, logged } = open();
    const error = await failureOf(gateway.complete(request, context()));
    expect(error.code).toBe(code);
    expect(error.detail).toContain(detail);
    expect(double.journal()).toHaveLength(calls);
    expect(JSON.stringify([error.message, error.detail, error.cause ?? null, logged])).not.toContain(key);
  });

  it('ends a call that hangs within its limit, and charges what it may have cost', async () => {
    double.configure({ mode: 'hang' });
    const { gateway, ledger } = open({ callSeconds: 1 });
    const error = await failureOf(gateway.complete(request, context()));
    expect(error.code).toBe('model_timeout');
    expect(ledger.reservations).toEqual([
      {
        tokens: expect.any(Number),
        outcome: { usage: expect.objectContaining({ estimated: true }), costMicros: 0 },
      },
    ]);
    // On a machine that stands still the limit may be over before the call gets there.
    await expect.poll(() => double.journal().map((entry) => entry.aborted)).not.toContain(false);
  });

  it('charges the reservation when the server sends no usage', async () => {
    double.configure({ mode: 'no_usage' });
    const { gateway, ledger } = open();
    const { usage } = await gateway.complete(request, context());
    expect(usage.estimated).toBe(true);
    expect(ledger.reservations[0]?.tokens).toBe(usage.promptTokens + usage.completionTokens);
  });

  it('stops in the middle of a stream when it is aborted, with the reason of the abort', async () => {
    double.configure({ pieceMs: 200 });
    const controller = new AbortController();
    const { gateway, ledger } = open();
    const reason = new PatchfleetError('cancelled', 'a newer push');
    const work = gateway.complete(
      request,
      context(controller.signal, () => controller.abort(reason)),
    );
    await expect(work).rejects.toBe(reason);
    expect(ledger.reservations.map((one) => one.outcome)).toEqual([
      { usage: expect.objectContaining({ estimated: true }), costMicros: 0 },
    ]);
    await expect.poll(() => double.journal().map((entry) => entry.aborted)).toEqual([true]);
  });

  it('never has more calls in flight than the channel allows', async () => {
    const { gateway } = open({ channel: { concurrent: 3 } });
    const answer = double.hold();
    const all = Promise.all(Array.from({ length: 9 }, () => gateway.complete(request, context())));
    await expect.poll(() => double.journal().length).toBeGreaterThanOrEqual(3);
    answer();
    await all;
    expect(mostAtOnce(double.journal())).toBe(3);
    expect(double.journal()).toHaveLength(9);
  });

  it('makes no call that the budget does not cover', async () => {
    const { gateway } = open({ budget: 10_000 });
    const results = await Promise.allSettled([1, 2].map(() => gateway.complete(request, context())));
    expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    const rejected = results.find((result) => result.status === 'rejected');
    expect(rejected?.reason).toMatchObject({ code: 'budget_exhausted' });
    expect(double.journal()).toHaveLength(1);
  });

  it('makes no call that does not fit the context of the model', async () => {
    const { gateway, ledger } = open({ channel: { context_tokens: 4096, max_output_tokens: 256 } });
    const long: ModelMessage[] = [{ role: 'user', content: 'x'.repeat(20_000) }];
    const error = await failureOf(gateway.complete({ ...request, messages: long }, context()));
    expect(error.code).toBe('context_exceeded');
    expect(ledger.reservations).toEqual([]);
    expect(double.journal()).toEqual([]);
  });

  it.each([
    [
      'a channel that is not configured',
      { ...request, channel: 'other' },
      {},
      'config_invalid',
      'no channel is named "other"',
    ],
    [
      'a key that is not set',
      request,
      { keys: () => undefined },
      'model_refused',
      'OPENAI_API_KEY is not set',
    ],
    [
      'a model that does not exist',
      request,
      { channel: { model: 'gpt-none' } },
      'model_refused',
      'does not exist',
    ],
    [
      'a server that is not there',
      request,
      { channel: { base_url: nobody } },
      'model_unavailable',
      'cannot be reached',
    ],
  ])('names %s', async (_, wanted, options, code, detail) => {
    const { gateway } = open(options);
    const error = await failureOf(gateway.complete(wanted, context()));
    expect(error.code).toBe(code);
    expect(error.detail).toContain(detail);
  });
});

function mostAtOnce(entries: readonly { startedAt: number; endedAt: number | null }[]): number {
  const edges = entries
    .flatMap(({ startedAt, endedAt }) => [
      { at: startedAt, step: 1 },
      { at: endedAt ?? Number.POSITIVE_INFINITY, step: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.step - b.step);
  let now = 0;
  return edges.reduce((most, { step }) => {
    now += step;
    return Math.max(most, now);
  }, 0);
}
