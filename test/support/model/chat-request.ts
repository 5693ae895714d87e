/** The parts of a chat completion request that the double reads, once they are validated. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content?: string | null;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly {
      readonly id: string;
      readonly type: string;
      readonly function: { readonly name: string; readonly arguments: string };
    }[];
  }[];
  readonly tools?: readonly unknown[];
  readonly stream?: boolean;
}

export interface ScriptedReply {
  readonly content: string;
  readonly toolCalls: readonly { id: string; name: string; arguments: string }[];
}

/** An error in the form of OpenAI's. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param?: string | null;
}
