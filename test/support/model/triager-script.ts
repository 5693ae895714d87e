import type { Script } from './behaviour.ts';
import type { ChatRequest, ScriptedReply } from './chat-request.ts';
import { call, pastTurns, promptOf, readFence } from './prompt.ts';

/** A body of fewer characters says too little to work with. */
const enough = 40;

/**
 * What a triager would answer: it looks at the root, then reports the first of `script.triages` that fits; else
 * the labels whose name is in the issue's text, issues of the same title as duplicates, and a question where the
 * issue says next to nothing.
 */
export function triagerReply(request: ChatRequest, script: Script): ScriptedReply {
  if (pastTurns(request).length === 0)
    return { content: 'I look around.', toolCalls: [call('list_files', {}, 0)] };
  const prompt = promptOf(request);
  const issue = readFence(prompt, 'issue');
  const scripted = script.triages.find((one) => issue.includes(one.when));
  const { when: _, ...report } = scripted ?? { when: '', ...byRule(prompt, issue) };
  return { content: '', toolCalls: [call('report_triage', report, 1)] };
}

function byRule(prompt: string, issue: string) {
  const quoted = /```+text\n([\s\S]*?)\n```+/.exec(issue)?.[1] ?? issue;
  const title = /^Title: (.*)$/m.exec(quoted)?.[1]?.trim() ?? '';
  const body = quoted.replace(/^Title: .*$/m, '').trim();
  const labels = jsonLines(readFence(prompt, 'labels')) as { name: string }[];
  const others = jsonLines(readFence(prompt, 'issues')) as { number: number; title: string }[];
  return {
    labels: labels
      .map(({ name }) => name)
      .filter((name) => quoted.toLowerCase().includes(name.toLowerCase())),
    duplicates: others
      .filter((other) => other.title.trim().toLowerCase() === title.toLowerCase())
      .map(({ number }) => number)
      .slice(0, 5),
    question:
      body.length < enough ? 'What did you do, what did you expect, and what happened instead?' : null,
    summary: `It is about: ${title || 'nothing that it says'}.`,
  };
}

function jsonLines(text: string): unknown[] {
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as unknown);
}
