import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFixer, createPlannerAgent } from '../../../src/agents/create-agent.ts';
import { protectionBy } from '../../../src/domain/protection.ts';
import { planFix } from '../../../src/planning/plan-fix.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';
import type { BehaviourInput } from '../../support/model/behaviour.ts';
import { createModelDouble, type ModelDouble } from '../../support/model/create-model-double.ts';
import { sampleFix } from '../../support/model/sample-fix.ts';
import { readSample } from '../../support/sample/sample.ts';
import { fixFacts, proposedRow } from '../../unit/planning/fix-facts.ts';
import { coder, gatewayTo } from './model-setting.ts';

const { base } = readSample();
const instruction = 'move the hard-coded strings of every package into its config module';
const { signal } = new AbortController();

let double: ModelDouble;
beforeAll(async () => {
  double = await createModelDouble();
});
beforeEach(() => {
  double.configure({});
  double.clearJournal();
});
afterAll(() => double.close());

function plan(behaviour: BehaviourInput = {}) {
  double.configure(behaviour);
  const { propose } = createPlannerAgent(coder, { gateway: gatewayTo(double) });
  const files = Object.keys(base);
  return planFix(fixFacts({ files, instruction, propose, protection: protectionBy([]) }));
}

describe('planning with a model, against a strict API', () => {
  it('makes two rows of each package of the sample, none of which gets in the way of another', async () => {
    const { rows, contract } = await plan();
    expect(rows.map((row) => row.title)).toEqual([
      ...['collections', 'dates', 'http', 'money', 'orders', 'text'].flatMap((name) => [
        `packages/${name} part 1/2`,
        `packages/${name} part 2/2`,
      ]),
      'merge and verify',
    ]);
    expect(rows.slice(0, -1).every((row) => row.dependsOn.length === 0)).toBe(true);
    expect(contract).toContain('src/config/part-N.js');
    expect(double.journal().map(({ refusal }) => refusal)).toEqual([null]);
  });

  it('asks once more with the faults named', async () => {
    const { rows } = await plan({
      plans: [
        {
          when: 'What is wrong with it\n- row 0 ("a"): "/abs" is absolute',
          rows: [proposedRow('b', ['README.md'])],
        },
        { rows: [proposedRow('a', ['/abs'])] },
      ],
    });
    expect(rows.map((row) => row.title)).toEqual(['b', 'merge and verify']);
    expect(double.journal()).toHaveLength(2);
  });

  it('cuts the repository by its packages where the model plans nothing of use', async () => {
    const { rows } = await plan({ mode: 'nonsense_text' });
    expect(rows.map((row) => row.title)).toContain('packages/money');
    expect(rows).toHaveLength(8);
  });
});

describe('the whole of the scripted change', () => {
  it('leaves the tests of the sample passing', async () => {
    const { rows } = await plan();
    const whole = await createLocalSandbox(base);
    const fixer = createFixer(coder, {
      gateway: gatewayTo(double),
      repositoryInstructions: '',
      protection: protectionBy([]),
    });
    let files = 0;
    let rowsWithChanges = 0;
    for (const row of rows.filter(({ kind }) => kind !== 'integrate')) {
      const sandbox = await createLocalSandbox(base);
      await fixer.fix(sampleFix(row.matrix, sandbox));
      const entries = await sandbox.harvest(signal);
      for (const entry of entries) {
        if (entry.kind !== 'file') throw new Error(`${entry.path} is no file`);
        await whole.write(entry.path, (await entry.read()).toString(), { signal });
      }
      files += entries.length;
      rowsWithChanges += Number(entries.length > 0);
      await sandbox.close();
    }
    const tests = await whole.run(['node', '--test'], { signal, wallMs: 60_000 });
    await whole.close();
    expect(tests).toMatchObject({ exitCode: 0 });
    expect([rowsWithChanges, files]).toEqual([12, 35]);
  });
});
