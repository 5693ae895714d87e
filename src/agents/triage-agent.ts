import { z } from 'zod';
import type { ModelAgentConfig } from '../config/agent-config.ts';
import { type Triage, triageSchema } from '../domain/triage.ts';
import type { ModelGateway, ModelMessage } from '../inference/port.ts';
import { cleanText } from './clean-text.ts';
import { converse } from './converse.ts';
import { fenceData } from './fence-data.ts';
import type { TriageAssignment, Triager } from './port.ts';
import { dataOrNothing, dataRule, list, section, thisRun } from './prompts.ts';
import type { Ending } from './tool-loop.ts';
import { createToolSet } from './tool-set.ts';
import { answerOf, readingDescriptions, readingSchemas, runWorkspaceTool } from './workspace-tools.ts';

const { labels, duplicates, question, summary } = triageSchema.shape;

const triageTools = createToolSet(
  {
    ...readingSchemas,
    report_triage: z.object({
      labels: labels.describe('Names from the list of labels; empty: none fits.'),
      duplicates: duplicates.describe('Numbers from the list of other open issues that say the same.'),
      question: question
        .nullish()
        .describe('What the author should be asked because work cannot begin without it; null: nothing.'),
      summary: summary.min(1).describe('A sentence or two: what it is about, and where in the code.'),
    }),
  },
  {
    ...readingDescriptions,
    report_triage: 'Ends the triage. Checked at once: the answer says what is wrong with it.',
  },
);

/** A model that sorts an issue: reads the repository, chooses from the labels and issues it is given, ends. */
export function createTriageAgent(
  config: ModelAgentConfig,
  deps: { readonly gateway: ModelGateway; readonly repositoryInstructions: string },
): Triager {
  return {
    name: config.name,
    async triage(assignment) {
      const { sandbox, signal, onProgress } = assignment;
      const { turns, result } = await converse({ gateway: deps.gateway, agent: config }, assignment, {
        first: firstTriageMessages(assignment, {
          agent: config.instructions,
          repository: deps.repositoryInstructions,
        }),
        tools: triageTools.definitions,
        parse: triageTools.parse,
        run: async (call) => {
          if (call.name !== 'report_triage')
            return answerOf(
              () =>
                runWorkspaceTool(call, {
                  sandbox,
                  signal,
                  onProgress,
                  idleMs: assignment.row.limits.idleMs,
                  commandSeconds: 0,
                }),
              signal,
            );
          return report(call.arguments, assignment);
        },
        replay: (call) => {
          const answer = call.name === 'report_triage' ? report(call.arguments, assignment) : '';
          return typeof answer === 'string' ? null : answer;
        },
        touches: () => false,
        remindOfTools:
          'That was an answer without a tool call; nobody reads it. Use the tools, then call report_triage.',
        lastTurns: 'call report_triage with what you know',
      });
      return { triage: result, turns };
    },
  };
}

function report(
  reported: Omit<Triage, 'question'> & { readonly question?: string | null | undefined },
  assignment: TriageAssignment,
): string | Ending<Triage> {
  const checked = checkTriage({ ...reported, question: reported.question ?? null }, assignment);
  return 'faults' in checked
    ? `error: not recorded: ${checked.faults.join('; ')}`
    : { text: 'recorded', result: checked.triage };
}

/** The triage with each label and number once, or everything that is wrong with it, in words for the model. */
export function checkTriage(
  reported: Triage,
  given: Pick<TriageAssignment, 'labels' | 'others'>,
): { triage: Triage } | { faults: string[] } {
  const known = new Map(given.labels.map(({ name }) => [name.toLowerCase(), name]));
  const numbers = new Set(given.others.map(({ number }) => number));
  const faults: string[] = [];
  const unknown = reported.labels.filter((name) => !known.has(name.toLowerCase()));
  if (unknown.length > 0) {
    const valid = given.labels.map(({ name }) => JSON.stringify(name)).join(', ');
    faults.push(
      `there are no labels ${unknown.map((name) => JSON.stringify(name)).join(', ')}; there are: ${valid || 'none'}`,
    );
  }
  const strange = reported.duplicates.filter((number) => !numbers.has(number));
  if (strange.length > 0)
    faults.push(`not among the other open issues given: ${strange.map((number) => `#${number}`).join(', ')}`);
  if (faults.length > 0) return { faults };
  const question = reported.question?.trim() ?? '';
  return {
    triage: {
      // GitHub knows labels without regard to case; the repository's spelling is kept.
      labels: [...new Set(reported.labels.map((name) => known.get(name.toLowerCase()) ?? name))],
      duplicates: [...new Set(reported.duplicates)],
      question: question === '' ? null : question,
      summary: cleanText(reported.summary).trim(),
    },
  };
}

export function firstTriageMessages(
  assignment: TriageAssignment,
  instructions: { agent: string; repository: string },
): ModelMessage[] {
  const { row } = assignment;
  const choices = assignment.labels.map(({ name, description }) => JSON.stringify({ name, description }));
  const others = assignment.others.map((other) => JSON.stringify(other));
  const parts = [
    section('Instructions of the operator', instructions.agent),
    section('Conventions of the repository', instructions.repository),
    section('Contract', dataOrNothing('contract', assignment.contract)),
    section('Labels', choices.length === 0 ? 'There are none.' : fenceData('labels', choices.join('\n'))),
    section(
      'Other open issues',
      others.length === 0 ? 'There are none.' : fenceData('issues', others.join('\n')),
    ),
    section('Goal', row.goal),
    section('The issue', dataOrNothing('issue', row.background)),
    section('Output', row.output),
    section('Constraints', list(row.constraints)),
    section('Verification', row.verification),
    thisRun(assignment),
  ];
  return [
    { role: 'system', content: systemPrompt },
    { role: 'user', content: parts.filter((part) => part !== '').join('\n\n') },
  ];
}

const systemPrompt = `You sort one issue of a repository. You work in a sandbox that holds the repository, read-only for you. You act through tools alone; text you write outside of tool calls is not read by anyone.

How to work
- Look into the code where the issue leads you (search, read_file), as far as it takes to say what it is about.
- Choose labels from the given list only, by what they say; few rather than many, none where none fits.
- Name an issue as a duplicate only if one fix would settle both.
- Ask a question only if work cannot begin without the answer: one message, polite, exact, with what is missing. The author is asked once.
- Nothing is closed, promised or decided. End with report_triage.

${dataRule('what you sort')}`;
