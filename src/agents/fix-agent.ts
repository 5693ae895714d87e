import type { ModelAgentConfig } from '../config/agent-config.ts';
import type { RequestedRow } from '../domain/fork.ts';
import type { ProtectionOf } from '../domain/protected-paths.ts';
import type { ModelGateway } from '../inference/port.ts';
import { cleanText } from './clean-text.ts';
import { converse } from './converse.ts';
import { firstFixMessages, fixLastTurns, fixReminder } from './fix-prompts.ts';
import { changesFiles, type FixCall, fixTools, replayFixTool, runFixTool } from './fix-tools.ts';
import type { Fixer } from './port.ts';
import type { Ending } from './tool-loop.ts';
import { openWriteScope } from './write-scope.ts';

export interface FixerDeps {
  readonly gateway: ModelGateway;
  /** `fix.instructions` of the repository file; may be empty. */
  readonly repositoryInstructions: string;
  readonly protection: ProtectionOf;
}

/** A model that changes files within the scope of its row. The loop runs here, its tools act in the sandbox. */
export function createFixAgent(config: ModelAgentConfig, deps: FixerDeps): Fixer {
  return {
    name: config.name,
    async fix(assignment) {
      const { sandbox, signal, onProgress, row } = assignment;
      const scope = await openWriteScope(row.writes, sandbox, signal, deps.protection);
      const written = new Set<string>();
      const requested: RequestedRow[] = [];
      const { turns, result } = await converse({ gateway: deps.gateway, agent: config }, assignment, {
        first: firstFixMessages(assignment, {
          agent: config.instructions,
          repository: deps.repositoryInstructions,
        }),
        tools: fixTools.definitions,
        parse: fixTools.parse,
        run: async (call) =>
          call.name === 'finish'
            ? finish(call.arguments, written)
            : runFixTool(call, {
                sandbox,
                signal,
                onProgress,
                idleMs: row.limits.idleMs,
                scope,
                written,
                requested,
              }),
        replay: (call, text) => {
          if (call.name !== 'finish') return replayFixTool(call, text, { scope, written, requested });
          const answer = finish(call.arguments, written);
          return typeof answer === 'string' ? null : answer;
        },
        touches: changesFiles,
        remindOfTools: fixReminder,
        lastTurns: fixLastTurns,
      });
      return { summary: cleanText(result), turns, requested };
    },
  };
}

function finish(
  { summary, no_change_reason }: Extract<FixCall, { name: 'finish' }>['arguments'],
  written: ReadonlySet<string>,
): string | Ending<string> {
  const reason = no_change_reason?.trim() ?? '';
  if (written.size > 0) return { text: 'finished', result: summary };
  if (reason === '')
    return 'error: you have written nothing: make the change, or call finish with no_change_reason (also where a command of yours made the change: say which)';
  return { text: 'finished', result: summary === reason ? summary : `${summary} ${reason}` };
}
