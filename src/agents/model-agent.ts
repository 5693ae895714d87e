import type { ModelAgentConfig } from '../config/agent-config.ts';
import { toFailure } from '../domain/failure.ts';
import type { ModelGateway } from '../inference/port.ts';
import { createFindingCollector, readFilesUnderReview } from './collect-findings.ts';
import type { Agent } from './port.ts';
import { firstMessages } from './prompts.ts';
import { runReviewLoop } from './review-loop.ts';
import { runTool } from './run-tool.ts';
import { toolDefinitions } from './tool-definitions.ts';
import { createTranscript } from './transcript.ts';

/** A model as a reviewer. The loop runs here; what its tools do happens in the sandbox, which knows no key. */
export function createModelAgent(
  config: ModelAgentConfig,
  deps: { gateway: ModelGateway; repositoryInstructions: string },
): Agent {
  return {
    name: config.name,
    async review(assignment) {
      const { sandbox, signal, changes, row, onProgress } = assignment;
      const record = createTranscript(assignment.onLog);
      const messages = firstMessages(assignment, {
        agent: config.instructions,
        repository: deps.repositoryInstructions,
      });
      record({ type: 'prompt', messages: messages.map(({ role, content }) => ({ role, content })) });
      const files = await readFilesUnderReview(changes, sandbox, signal);
      const collector = createFindingCollector(changes, files);
      let turns = 0;
      try {
        const { summary } = await runReviewLoop(messages, row.limits, {
          ask: (conversation) => {
            turns += 1;
            return deps.gateway.complete(
              { channel: config.channel, messages: conversation, tools: toolDefinitions },
              assignment,
            );
          },
          run: (call) => runTool(call, { sandbox, collector, signal, onProgress }),
          record,
          onProgress,
        });
        return { findings: collector.findings, refused: collector.refused, summary, turns };
      } catch (error) {
        const { code, detail } = toFailure(signal.aborted ? signal.reason : error);
        record({ type: 'end', turns, outcome: `${code}: ${detail}` });
        throw error;
      }
    },
  };
}
