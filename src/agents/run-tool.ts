import type { FindingCollector } from './collect-findings.ts';
import { type ReviewCall, reviewCommandSeconds } from './tool-definitions.ts';
import { answerOf, runWorkspaceTool, type WorkspaceContext } from './workspace-tools.ts';

export interface ToolContext extends Omit<WorkspaceContext, 'commandSeconds'> {
  readonly collector: FindingCollector;
}

/** Does what a valid tool call of a reviewer asks and gives the text for the model; see {@link answerOf}. */
export function runTool(
  call: Exclude<ReviewCall, { name: 'finish' }>,
  context: ToolContext,
): Promise<string> {
  return answerOf(
    async () =>
      call.name === 'report_finding'
        ? context.collector.report(call.arguments)
        : runWorkspaceTool(call, { ...context, commandSeconds: reviewCommandSeconds }),
    context.signal,
  );
}
