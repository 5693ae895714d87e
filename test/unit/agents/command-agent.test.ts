import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../../../src/agents/create-agent.ts';
import { commandAgentSchema } from '../../../src/config/agent-config.ts';
import type { ModelGateway } from '../../../src/inference/port.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';
import { deletedFile, sampleAssignment, sampleChange } from '../../support/model/sample-assignment.ts';

const plain = sampleChange('src/[id]/a b.ts', [' keep', '+eval(x);', ' end'], 4);
const dashed = sampleChange('-rf.ts', ['+eval(y);']);
const changes = [plain.change, deletedFile('gone.ts'), dashed.change];

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createLocalSandbox({ [plain.change.path]: plain.text, [dashed.change.path]: dashed.text });
});
afterAll(() => sandbox.close());

const gateway: ModelGateway = { complete: () => Promise.reject(new Error('a command agent needs no model')) };

function review(config: object, options: Parameters<typeof sampleAssignment>[2] = {}) {
  const agent = commandAgentSchema.parse({ name: 'lint', kind: 'command', format: 'lines', ...config });
  const assignment = sampleAssignment(changes, sandbox, options);
  return { assignment, work: createAgent(agent, { gateway, repositoryInstructions: '' }).review(assignment) };
}

const script = (text: string) => ['sh', '-c', text, 'sh', '{files}'];

describe('the command agent', () => {
  it('runs a real linter over the files that are left, and quotes the lines it names', async () => {
    const { work, assignment } = review({
      command: ['grep', '-nH', 'eval\\|filler 1$', '{files}'],
      pattern: '^(?<path>.+?):(?<line>\\d+):(?<message>.+)$',
    });
    const finding = {
      side: 'RIGHT',
      severity: 'warning',
      confidence: 1,
      rule: 'lint',
      body: '',
      replacement: null,
    };
    expect(await work).toEqual({
      findings: [
        {
          ...finding,
          path: plain.change.path,
          startLine: 5,
          endLine: 5,
          title: 'eval(x);',
          quote: 'eval(x);',
        },
        { ...finding, path: '-rf.ts', startLine: 1, endLine: 1, title: 'eval(y);', quote: 'eval(y);' },
      ],
      refused: 0,
      summary: 'Not shown: 1 outside the change.',
      turns: 0,
    });
    expect(assignment.log[0]).toBe('$ "grep" "-nH" "eval\\\\|filler 1$" "src/[id]/a b.ts" "./-rf.ts"');
    expect(assignment.log.at(-1)).toMatch(/^\[exit code 0, \d+ ms\]$/);
  });

  it('reads SARIF', async () => {
    const sarif = {
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { name: 'lint' } },
          results: [
            {
              ruleId: 'no-eval',
              level: 'error',
              message: { text: 'Do not.' },
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: encodeURI(`file://${sandbox.workspace}/${plain.change.path}`) },
                    region: { startLine: 5 },
                  },
                },
              ],
            },
          ],
        },
      ],
    };
    const { work } = review({ format: 'sarif', command: ['printf', '%s', JSON.stringify(sarif)] });
    expect(await work).toMatchObject({
      findings: [{ path: plain.change.path, startLine: 5, rule: 'no-eval', quote: 'eval(x);' }],
      summary: '',
    });
  });

  it('finds nothing where the command finds nothing', async () => {
    const { work } = review({ command: ['true', '{files}'] });
    expect(await work).toEqual({ findings: [], refused: 0, summary: '', turns: 0 });
  });

  it('quotes the files as they were, whatever the command does to them', async () => {
    const { work } = review({
      command: script('for f; do echo changed > "$f"; done; echo "src/[id]/a b.ts:5: hm"'),
    });
    expect(await work).toMatchObject({ findings: [{ quote: 'eval(x);' }] });
  });

  it.each<[string, object, object, string, RegExp]>([
    [
      'a code that is no success',
      { command: script('echo broken >&2; exit 2') },
      {},
      'command_failed',
      /"sh" ended with code 2: broken$/,
    ],
    [
      'a program that is not there',
      { command: ['no-such-linter', '{files}'] },
      {},
      'command_failed',
      /"no-such-linter" could not be started; is it in the sandbox image/,
    ],
    ['a signal', { command: script('kill -9 $$') }, {}, 'command_failed', /was ended by SIGKILL/],
    [
      'too much time',
      { command: ['sleep', '30'] },
      { limits: { wallMs: 200 } },
      'wall_limit',
      /"sleep" did not end in time/,
    ],
    [
      'too much output',
      { command: script('yes src/a.ts:1: x | head -c 5000000') },
      {},
      'output_invalid',
      /more than 4 MiB/,
    ],
    [
      'problems that cannot be read',
      { command: script('echo "2 problems, somewhere"; exit 1') },
      {},
      'output_invalid',
      /none of 1 lines matches/,
    ],
    [
      'half a SARIF log',
      { format: 'sarif', command: ['printf', '{"version":'] },
      {},
      'output_invalid',
      /not JSON/,
    ],
  ])('fails on %s', async (_, config, options, code, detail) => {
    const { work } = review(config, options);
    await expect(work).rejects.toMatchObject({ code, detail: expect.stringMatching(detail) });
  });

  it('wants more memory where it ran out of it, unless it succeeded all the same', async () => {
    const whole = sandbox;
    sandbox = {
      ...whole,
      run: async (argv, options) => ({ ...(await whole.run(argv, options)), outOfMemory: true }),
    };
    try {
      await expect(review({ command: script('exit 7') }).work).rejects.toMatchObject({
        code: 'memory_exhausted',
        detail: '"sh" ended with code 7',
      });
      expect(await review({ command: script('exit 0') }).work).toMatchObject({ findings: [] });
    } finally {
      sandbox = whole;
    }
  });

  it('stops when the attempt is aborted', async () => {
    const controller = new AbortController();
    const { work, assignment } = review({ command: ['sleep', '30'] }, { signal: controller.signal });
    const rejected = expect(work).rejects.toThrow('cancelled');
    await expect.poll(() => assignment.log).toEqual(['$ "sleep" "30"']);
    controller.abort(new Error('cancelled'));
    await rejected;
  });

  it('has nothing to do where all files are gone', async () => {
    const agent = createAgent(
      commandAgentSchema.parse({ name: 'lint', kind: 'command', command: ['false'], format: 'lines' }),
      { gateway, repositoryInstructions: '' },
    );
    const report = await agent.review(sampleAssignment([deletedFile('gone.ts')], sandbox));
    expect(report).toEqual({ findings: [], refused: 0, summary: 'No file left to check.', turns: 0 });
  });
});
