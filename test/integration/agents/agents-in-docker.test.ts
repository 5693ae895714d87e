import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../../../src/agents/create-agent.ts';
import { agentSchema } from '../../../src/config/agent-config.ts';
import type { ModelGateway, ModelMessage } from '../../../src/inference/port.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { sampleAssignment, sampleChange } from '../../support/model/sample-assignment.ts';
import { createSetting, type Setting } from '../sandbox/docker-setting.ts';

const odd = sampleChange('app/[id]/page "1".ts', [' keep', '+eval(input);'], 3);
const dashed = sampleChange('-v.ts', ['+eval(other);']);
const changes = [odd.change, dashed.change];

let setting: Setting;
let sandbox: Sandbox;
beforeAll(async () => {
  setting = createSetting();
  sandbox = await setting.acquire({ [odd.change.path]: odd.text, [dashed.change.path]: dashed.text });
});
afterAll(() => setting.end());

/** A model that makes these calls, one a turn, and keeps what it was answered. */
function modelThat(calls: readonly [name: string, args: object][]) {
  const answers: string[] = [];
  const gateway: ModelGateway = {
    complete: async ({ messages }) => {
      const last: ModelMessage | undefined = messages.at(-1);
      if (last?.role === 'tool') answers.push(last.content.replace(/\n\[\d+ turns? left.*$/, ''));
      const [name, args] = calls[answers.length] ?? ['finish', { summary: 'done' }];
      return {
        content: '',
        toolCalls: [{ id: `call_${answers.length}`, name, arguments: JSON.stringify(args) }],
        finishReason: 'tool_calls',
        usage: { promptTokens: 1, cachedTokens: 0, completionTokens: 1, estimated: false },
      };
    },
  };
  return { gateway, answers };
}

describe('agents in a real container', () => {
  it('the model agent works through all its tools', async () => {
    const { gateway, answers } = modelThat([
      ['list_files', {}],
      ['read_file', { path: odd.change.path, start_line: 4, end_line: 4 }],
      ['search', { pattern: 'eval\\((input|other)\\)' }],
      ['search', { pattern: '(' }],
      ['read_file', { path: 'none.ts' }],
      ['run_command', { argv: ['cat', '--', dashed.change.path] }],
      ['run_command', { argv: ['no-such-program'] }],
      [
        'report_finding',
        {
          path: odd.change.path,
          start_line: 9,
          quote: 'eval(input);',
          severity: 'error',
          rule: 'no-eval',
          title: 'Evaluates input',
        },
      ],
    ]);
    const agent = createAgent(agentSchema.parse({ name: 'reviewer', kind: 'model' }), {
      gateway,
      repositoryInstructions: '',
    });
    const report = await agent.review(sampleAssignment(changes, sandbox));
    expect(report).toMatchObject({
      findings: [{ path: odd.change.path, startLine: 4, quote: 'eval(input);' }],
      refused: 0,
      turns: 9,
    });
    expect(answers).toEqual([
      expect.stringContaining('-v.ts ('),
      '     4|eval(input);\n[lines 4-4 of 9]',
      `-v.ts:1: eval(other);\n${odd.change.path}:4: eval(input);`,
      expect.stringMatching(/^error: /),
      expect.stringMatching(/^error: none\.ts: no such file/),
      `exit code 0\nstdout:\n${dashed.text}`,
      expect.stringMatching(/^error: it could not be started/),
      'recorded at line 4, where the quoted text is',
    ]);
  });

  it('the command agent runs a command of the image over odd paths', async () => {
    const agent = createAgent(
      agentSchema.parse({
        name: 'grep',
        kind: 'command',
        command: ['grep', '-Hn', 'eval', '{files}'],
        format: 'lines',
        pattern: '^(?<path>.+?):(?<line>\\d+):(?<message>.+)$',
      }),
      { gateway: modelThat([]).gateway, repositoryInstructions: '' },
    );
    const { findings } = await agent.review(sampleAssignment(changes, sandbox));
    expect(findings.map(({ path, startLine, quote }) => [path, startLine, quote])).toEqual([
      [odd.change.path, 4, 'eval(input);'],
      ['-v.ts', 1, 'eval(other);'],
    ]);
  });

  it('a linter that the image lacks is named', async () => {
    const agent = createAgent(
      agentSchema.parse({ name: 'lint', kind: 'command', command: ['no-such-linter'], format: 'lines' }),
      { gateway: modelThat([]).gateway, repositoryInstructions: '' },
    );
    await expect(agent.review(sampleAssignment(changes, sandbox))).rejects.toMatchObject({
      code: 'command_failed',
      detail: expect.stringContaining('"no-such-linter" could not be started; is it in the sandbox image?'),
    });
  });
});
