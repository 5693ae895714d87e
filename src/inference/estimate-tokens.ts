import type { ModelRequest } from './port.ts';

/**
 * Source code and English come to 3.3 to 4.5 bytes a token with the tokenizers in use (other scripts cost more
 * bytes a character, and about as many tokens): a third of the UTF-8 bytes is an estimate on the safe side,
 * for every model and without its vocabulary. It is only reserved; what is charged is what the server counts.
 */
const bytesPerToken = 3;
/** Role, separators and ids of one message. */
const tokensPerMessage = 8;

/** Tokens the prompt of a request has at most, about. */
export function estimatePromptTokens(request: Pick<ModelRequest, 'messages' | 'tools'>): number {
  let bytes = request.tools.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(request.tools));
  for (const message of request.messages) {
    bytes += Buffer.byteLength(message.content);
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls) bytes += Buffer.byteLength(call.name + call.arguments + call.id);
  }
  return Math.ceil(bytes / bytesPerToken) + tokensPerMessage * request.messages.length;
}
