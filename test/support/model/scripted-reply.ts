import type { Script } from './behaviour.ts';
import type { ChatRequest, ScriptedReply } from './chat-request.ts';
import { fixerReply } from './fixer-script.ts';
import { plannerReply } from './planner-script.ts';
import { toolsOf } from './prompt.ts';
import { reviewerReply } from './reviewer-script.ts';
import { triagerReply } from './triager-script.ts';

/** What the agent would answer whose tools are offered. The same request always gets the same answer. */
export function scriptedReply(request: ChatRequest, script: Script): ScriptedReply {
  const tools = toolsOf(request);
  if (tools.has('submit_plan')) return plannerReply(request, script);
  if (tools.has('edit_file')) return fixerReply(request, script);
  if (tools.has('report_triage')) return triagerReply(request, script);
  return reviewerReply(request);
}
