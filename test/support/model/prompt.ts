import type { ChatRequest } from './chat-request.ts';

/** How scripts read a prompt (see src/agents/*prompts.ts) and what came back from their tools. */

export function promptOf(request: ChatRequest): string {
  const first = request.messages.find((message) => message.role === 'user');
  return typeof first?.content === 'string' ? first.content : '';
}

/** The ids at the end of the prompt, by which calls are told apart. */
export function idsOf(request: ChatRequest): { subtask: string; attempt: string; sandbox: string } {
  const prompt = promptOf(request);
  const read = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(prompt.slice(-1000))?.[1] ?? '';
  return { subtask: read('subtask'), attempt: read('attempt'), sandbox: read('sandbox') };
}

/** The items of a section whose lines are `- <JSON string>`. */
export function readList(prompt: string, title: string): string[] {
  const section = new RegExp(`^## ${title}\\n((?:- .*\\n?)+)`, 'm').exec(prompt)?.[1] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => JSON.parse(line.slice(2)) as string);
}

/** The text of the first fence of that name; empty where there is none. */
export function readFence(prompt: string, label: string): string {
  const fence = new RegExp(`<<<DATA ${label} ([0-9a-f]+)\\n([\\s\\S]*?)\\nDATA \\1>>>`);
  return fence.exec(prompt)?.[2] ?? '';
}

/** Names of the tools that the request offers. */
export function toolsOf(request: ChatRequest): Set<string> {
  return new Set((request.tools ?? []).map((tool) => (tool as { function: { name: string } }).function.name));
}

export interface PastCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly result: string;
}

/** The calls so far, each with what came back; one list for each turn. */
export function pastTurns(request: ChatRequest): PastCall[][] {
  const results = new Map(
    request.messages
      .filter((message) => message.role === 'tool')
      .map((message) => [message.tool_call_id, message.content ?? '']),
  );
  return request.messages
    .filter((message) => message.role === 'assistant')
    .map((message) =>
      (message.tool_calls ?? []).map((one) => ({
        name: one.function.name,
        arguments: JSON.parse(one.function.arguments) as Record<string, unknown>,
        result: results.get(one.id) ?? '',
      })),
    );
}

export function call(name: string, args: object, number: number) {
  return { id: `call_${String(number).padStart(4, '0')}`, name, arguments: JSON.stringify(args) };
}
