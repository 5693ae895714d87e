/** The log of a model agent: one JSON object a line, so that it can be read whole or cut anywhere. */

export type TranscriptEntry =
  | { readonly type: 'prompt'; readonly messages: readonly { role: string; content: string }[] }
  /** Turns that an earlier attempt finished. */
  | { readonly type: 'resumed'; readonly turns: number; readonly messages: readonly object[] }
  | {
      readonly type: 'reply';
      readonly turn: number;
      readonly content: string;
      readonly toolCalls: readonly { id: string; name: string; arguments: string }[];
      readonly finishReason: string;
      readonly usage: object;
    }
  | { readonly type: 'tool'; readonly turn: number; readonly name: string; readonly result: string }
  | { readonly type: 'reminder'; readonly turn: number; readonly content: string }
  | { readonly type: 'end'; readonly turns: number; readonly outcome: string };

/** Writes entries to `onLog`, each with the time it was made. */
export function createTranscript(
  onLog: (line: string) => void,
  now: () => Date = () => new Date(),
): (entry: TranscriptEntry) => void {
  return (entry) => onLog(JSON.stringify({ at: now().toISOString(), ...entry }));
}
