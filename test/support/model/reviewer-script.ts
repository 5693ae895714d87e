import type { ChatRequest, ScriptedReply } from './chat-request.ts';
import { plantedFaults } from './planted-faults.ts';
import { call, promptOf, readFence, readList } from './prompt.ts';

/** Findings reported in one turn at most: a shard with more takes several. */
const findingsPerTurn = 4;

/**
 * What a reviewer would answer, from the request alone: it reads the first input, reports each line of the diff
 * that has a fault it knows, and finishes. The same request always gets the same answer, on any replica.
 */
export function reviewerReply(request: ChatRequest): ScriptedReply {
  const prompt = promptOf(request);
  const past = request.messages.flatMap((message) => message.tool_calls ?? []);
  const [firstInput] = readList(prompt, 'Inputs');
  if (past.length === 0) {
    const calls = firstInput === undefined ? [] : [call('read_file', { path: firstInput }, past.length)];
    return {
      content: 'I read the first file.',
      toolCalls: [...calls, call('list_files', {}, past.length + calls.length)],
    };
  }
  const faults = faultsIn(prompt);
  const reported = past.filter((one) => one.function.name === 'report_finding').length;
  const next = faults.slice(reported, reported + findingsPerTurn);
  if (next.length > 0) {
    return {
      content: '',
      toolCalls: next.map((fault, index) => call('report_finding', fault, past.length + index)),
    };
  }
  const files = new Set(faults.map((fault) => fault.path)).size;
  const summary =
    faults.length === 0
      ? 'Read the change; nothing stood out.'
      : `Read the change; ${faults.length} ${faults.length === 1 ? 'problem' : 'problems'} in ${files} ${files === 1 ? 'file' : 'files'}.`;
  return { content: '', toolCalls: [call('finish', { summary }, past.length)] };
}

/** Reads the diff as it is rendered in the prompt: see src/agents/render-diff.ts. */
function faultsIn(prompt: string) {
  const diff = readFence(prompt, 'diff');
  const found: (Record<string, unknown> & { path: string })[] = [];
  let path = '';
  for (const line of diff.split('\n')) {
    const file = /^FILE ("(?:[^"\\]|\\.)*") /.exec(line)?.[1];
    if (file !== undefined) path = JSON.parse(file) as string;
    const added = /^ {6,} +(\d+) \+\|(.*)$/s.exec(line);
    if (added === null) continue;
    const text = added[2] ?? '';
    for (const fault of plantedFaults) {
      if (!fault.pattern.test(text)) continue;
      found.push({
        path,
        start_line: Number(added[1]),
        quote: text,
        severity: fault.severity,
        confidence: 0.9,
        rule: fault.rule,
        title: fault.title,
        body: `${fault.title}. Rule \`${fault.rule}\`.`,
        ...(fault.fix && { replacement: fault.fix(text) }),
      });
    }
  }
  return found;
}
