import { Ajv2020 } from 'ajv/dist/2020.js';
import { z } from 'zod';
import type { ApiError } from './chat-request.ts';

/** What OpenAI's API refuses of a chat completion request; null: it would take it. */

const name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const toolCall = z.strictObject({
  id: z.string().min(1).max(40),
  type: z.literal('function'),
  function: z.strictObject({ name, arguments: z.string() }),
});
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.enum(['system', 'developer', 'user']), content: z.string() }),
  z
    .strictObject({
      role: z.literal('assistant'),
      content: z.string().nullish(),
      tool_calls: z.array(toolCall).min(1).optional(),
    })
    .refine((one) => typeof one.content === 'string' || one.tool_calls !== undefined, {
      message: "expected a string, got null: 'content' may be null only beside 'tool_calls'",
    }),
  z.strictObject({ role: z.literal('tool'), content: z.string(), tool_call_id: z.string().min(1) }),
]);
const tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name,
    description: z.string().max(1024).optional(),
    parameters: z.looseObject({ type: z.literal('object') }).optional(),
    strict: z.boolean().optional(),
  }),
});
const tokens = z.int().min(1).max(128_000).optional();
const requestSchema = z.strictObject({
  model: z.string().min(1),
  messages: z.array(message).min(1),
  tools: z.array(tool).min(1).max(128).optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: z.boolean().optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  stream: z.boolean().optional(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional() }).optional(),
  seed: z.int().optional(),
  user: z.string().optional(),
});
type Request = z.infer<typeof requestSchema>;

export function refuseRequest(
  body: unknown,
  known: { models: readonly string[]; contextTokens: number },
): ApiError | null {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const param = issue?.path.join('.') ?? '';
    return invalid(`Invalid value at '${param}': ${issue?.message}`, param);
  }
  const request = parsed.data;
  if (!known.models.includes(request.model)) {
    return {
      status: 404,
      message: `The model \`${request.model}\` does not exist or you do not have access to it.`,
      type: 'invalid_request_error',
      code: 'model_not_found',
    };
  }
  return (
    refuseParameters(request) ?? refusePairs(request) ?? refuseTools(request) ?? refuseLength(request, known)
  );
}

function refuseParameters(request: Request): ApiError | null {
  if (request.max_tokens !== undefined && request.max_completion_tokens !== undefined) {
    return invalid('Setting both max_tokens and max_completion_tokens is not supported.', 'max_tokens');
  }
  if (request.stream_options !== undefined && request.stream !== true) {
    return invalid(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
    );
  }
  return null;
}

/** Every call of an assistant message is answered by one tool message, before anything else is said. */
function refusePairs(request: Request): ApiError | null {
  let open = new Set<string>();
  for (const [index, one] of request.messages.entries()) {
    const param = `messages.[${index}].role`;
    if (one.role === 'tool') {
      if (!open.delete(one.tool_call_id)) {
        return invalid(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          param,
        );
      }
      continue;
    }
    if (open.size > 0) return unanswered(open, param);
    if (one.role !== 'assistant' || one.tool_calls === undefined) continue;
    open = new Set(one.tool_calls.map((call) => call.id));
    if (open.size < one.tool_calls.length) return invalid('Duplicate tool call ids.', param);
  }
  return open.size > 0 ? unanswered(open, 'messages') : null;
}

function unanswered(open: ReadonlySet<string>, param: string): ApiError {
  return invalid(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
    param,
  );
}

const ajv = new Ajv2020({ strict: false });
const goodSchemas = new Set<string>();

function refuseTools(request: Request): ApiError | null {
  const names = new Set<string>();
  for (const { function: definition } of request.tools ?? []) {
    if (names.has(definition.name)) return invalid(`Duplicate function name: ${definition.name}`, 'tools');
    names.add(definition.name);
    if (definition.parameters === undefined) continue;
    const text = JSON.stringify(definition.parameters);
    if (goodSchemas.has(text)) continue;
    try {
      ajv.compile(definition.parameters);
      goodSchemas.add(text);
    } catch (error) {
      return invalid(`Invalid schema for function '${definition.name}': ${String(error)}`, 'tools');
    }
  }
  return null;
}

function refuseLength(request: Request, known: { contextTokens: number }): ApiError | null {
  const characters = JSON.stringify([request.messages, request.tools ?? []]).length;
  const prompt = Math.ceil(characters / 4);
  if (prompt <= known.contextTokens) return null;
  return {
    ...invalid(
      `This model's maximum context length is ${known.contextTokens} tokens. However, your messages resulted in ${prompt} tokens.`,
      'messages',
    ),
    code: 'context_length_exceeded',
  };
}

function invalid(text: string, param: string): ApiError {
  return { status: 400, message: text, type: 'invalid_request_error', code: null, param };
}
