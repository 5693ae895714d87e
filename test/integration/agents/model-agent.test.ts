import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAgent } from '../../../src/agents/create-agent.ts';
import { modelAgentSchema } from '../../../src/config/agent-config.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';
import { createModelDouble, type ModelDouble } from '../../support/model/create-model-double.ts';
import { plantedFaults } from '../../support/model/planted-faults.ts';
import { sampleAssignment, sampleChange } from '../../support/model/sample-assignment.ts';
import { gatewayTo, key } from './model-setting.ts';

const planted = plantedFaults.map((fault, index) => ({ fault, line: fault.plant(`thing${index}`) }));
const faulty = sampleChange(
  'src/[id]/faulty.ts',
  [' import x;', ...planted.map(({ line }) => `+  ${line}`), '-eval("old")', ' // end'],
  11,
);
const clean = sampleChange('src/clean.ts', ['+export const one = 1;']);

let double: ModelDouble;
let sandbox: Sandbox;
beforeAll(async () => {
  double = await createModelDouble();
  sandbox = await createLocalSandbox({ [faulty.change.path]: faulty.text, [clean.change.path]: clean.text });
});
afterAll(async () => {
  await double.close();
  await sandbox.close();
});
beforeEach(() => {
  double.configure({});
  double.clearJournal();
});

function createReviewer(callSeconds?: number) {
  const gateway = gatewayTo(double, callSeconds);
  const config = modelAgentSchema.parse({ name: 'reviewer', kind: 'model' });
  return createAgent(config, { gateway, repositoryInstructions: 'Use tabs.' });
}

describe('the model agent, against a strict API', () => {
  it('finds every planted fault at its line, with its quote and fix, and nothing else', async () => {
    const assignment = sampleAssignment([faulty.change, clean.change], sandbox);
    const report = await createReviewer().review(assignment);
    expect(report).toEqual({
      findings: planted.map(({ fault, line }, index) => ({
        path: faulty.change.path,
        side: 'RIGHT',
        startLine: 12 + index,
        endLine: 12 + index,
        severity: fault.severity,
        confidence: 0.9,
        rule: fault.rule,
        title: fault.title,
        body: expect.any(String),
        quote: `  ${line}`,
        replacement: fault.fix?.(`  ${line}`) ?? null,
      })),
      refused: 0,
      summary: 'Read the change; 8 problems in 1 file.',
      turns: 4,
    });
    expect(
      double.journal().map(({ refusal, sandbox, attempt, turn }) => [refusal, sandbox, attempt, turn]),
    ).toEqual([0, 1, 2, 3].map((turn) => [null, 'local-sandbox', 'attempt-1', turn]));
  });

  it('says so when there is nothing to find', async () => {
    const report = await createReviewer().review(sampleAssignment([clean.change], sandbox));
    expect(report).toEqual({
      findings: [],
      refused: 0,
      summary: 'Read the change; nothing stood out.',
      turns: 2,
    });
  });

  it.each([
    ['error500', 'model_unavailable'],
    ['hang', 'model_timeout'],
    ['nonsense', 'model_nonsense'],
    ['nonsense_text', 'model_nonsense'],
    ['nonsense_tools', 'model_nonsense'],
    ['quota', 'model_refused'],
    ['length', 'model_nonsense'],
  ] as const)('fails, with its log kept, when the model is in the mode %s', async (mode, code) => {
    double.configure({ mode });
    const assignment = sampleAssignment([faulty.change], sandbox);
    const reviewer = createReviewer(mode === 'hang' ? 1 : undefined);
    await expect(reviewer.review(assignment)).rejects.toMatchObject({ code });
    const log = assignment.log.map((line) => JSON.parse(line) as { type: string; outcome?: string });
    expect(log[0]?.type).toBe('prompt');
    expect(log.at(-1)?.outcome).toContain(code);
    expect(assignment.log.join('\n')).not.toContain(key);
    // Whatever the model sent, what goes back to it is in order.
    expect(double.journal().filter((entry) => entry.refusal !== null)).toEqual([]);
  });

  it('keeps the beginning of the prompt the same over attempts, up to what names the attempt', async () => {
    const agent = createReviewer();
    await agent.review(sampleAssignment([clean.change], sandbox));
    await agent.review({ ...sampleAssignment([clean.change], sandbox), attemptId: 'attempt-2' });
    const [first, second] = double
      .journal()
      .filter((entry) => entry.turn === 0)
      .map((entry) => entry.body?.messages ?? []);
    expect(second?.[0]).toEqual(first?.[0]);
    const texts = [first, second].map((messages) => String(messages?.[1]?.content).split('attempt: '));
    expect(texts[0]?.[0]).toBe(texts[1]?.[0]);
    expect(texts.map((parts) => parts[1]?.split('\n')[0])).toEqual(['attempt-1', 'attempt-2']);
  });
});
