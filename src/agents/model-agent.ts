import type { ModelAgentConfig } from '../config/agent-config.ts';
import type { ModelGateway } from '../inference/port.ts';
import { cleanText } from './clean-text.ts';
import { createFindingCollector, readFilesUnderReview } from './collect-findings.ts';
import { converse } from './converse.ts';
import type { Agent } from './port.ts';
import { firstMessages, lastTurns, remindOfTools } from './prompts.ts';
import { runTool } from './run-tool.ts';
import { reviewTools } from './tool-definitions.ts';
import type { Ending } from './tool-loop.ts';

/** A model as a reviewer. The loop runs here; what its tools do happens in the sandbox, which knows no key. */
export function createModelAgent(
  config: ModelAgentConfig,
  deps: { gateway: ModelGateway; repositoryInstructions: string },
): Agent {
  return {
    name: config.name,
    async review(assignment) {
      const { sandbox, signal, changes, onProgress } = assignment;
      const files = await readFilesUnderReview(changes, sandbox, signal);
      const collector = createFindingCollector(changes, files);
      const { turns, result } = await converse({ gateway: deps.gateway, agent: config }, assignment, {
        first: firstMessages(assignment, {
          agent: config.instructions,
          repository: deps.repositoryInstructions,
        }),
        tools: reviewTools.definitions,
        parse: reviewTools.parse,
        run: async (call) =>
          call.name === 'finish'
            ? finish(call.arguments.summary)
            : runTool(call, { sandbox, collector, signal, onProgress, idleMs: assignment.row.limits.idleMs }),
        replay: (call) => {
          if (call.name === 'report_finding') collector.report(call.arguments);
          return call.name === 'finish' ? finish(call.arguments.summary) : null;
        },
        touches: (call) => call.name === 'run_command',
        remindOfTools,
        lastTurns,
      });
      return { findings: collector.findings, refused: collector.refused, summary: result, turns };
    },
  };
}

function finish(summary: string): Ending<string> {
  return { text: 'finished', result: cleanText(summary).trim() };
}
