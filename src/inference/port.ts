/** What agents know of models. */

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote it: JSON, hopefully. */
  readonly arguments: string;
}

export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

export interface ModelRequest {
  readonly channel: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDefinition[];
  /**
   * Digest of all that an answer may depend on: calls over one channel that have it in common and are in flight at
   * once share one answer. Left out: it is asked for by itself.
   */
  readonly identity?: string;
}

export interface ModelReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string;
  readonly usage: TokenUsage;
}

export interface TokenUsage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** True when the server sent no usage and the reservation was charged instead. */
  readonly estimated: boolean;
}

/** Who pays: every call is reserved against the task's budget before it is made, and settled after. */
export interface CallContext {
  readonly taskId: string;
  readonly subtaskId: string;
  readonly attemptId: string;
  readonly signal: AbortSignal;
  /** Called on every sign of life (bytes of the stream). */
  readonly onProgress: () => void;
}

export interface ModelGateway {
  /**
   * One turn. Retries what is transient within its bounds, then fails with `model_unavailable`,
   * `model_timeout`, `model_refused`, `model_nonsense`, `context_exceeded` or `budget_exhausted`. The answer to
   * somebody else's identical call costs nothing: its usage is zero.
   */
  complete(request: ModelRequest, context: CallContext): Promise<ModelReply>;
}

/** The budget of a task, kept in rows so that parallel attempts share it. */
export interface BudgetLedger {
  /** Reserves tokens of the task's budget; null when it does not fit. Returns the reservation's id. */
  reserve(
    context: { taskId: string; subtaskId: string; attemptId: string },
    channel: string,
    model: string,
    tokens: number,
  ): Promise<string | null>;
  settle(reservation: string, usage: TokenUsage, costMicros: number): Promise<void>;
  /** The call was surely not charged (refused before any token). */
  release(reservation: string): Promise<void>;
}
