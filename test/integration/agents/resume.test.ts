import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAgent, createFixer, createTriager } from '../../../src/agents/create-agent.ts';
import type { TurnKeeper } from '../../../src/agents/port.ts';
import { protectionBy } from '../../../src/domain/protection.ts';
import type { ModelGateway } from '../../../src/inference/port.ts';
import type { Sandbox } from '../../../src/sandbox/port.ts';
import type { KeptTurn } from '../../../src/store/port/checkpoints.ts';
import { createLocalSandbox } from '../../support/local-sandbox.ts';
import { createModelDouble, type ModelDouble } from '../../support/model/create-model-double.ts';
import { plantedFaults } from '../../support/model/planted-faults.ts';
import { sampleAssignment, sampleChange } from '../../support/model/sample-assignment.ts';
import { sampleFix } from '../../support/model/sample-fix.ts';
import { coder, gatewayTo } from './model-setting.ts';

/** Agents that are stopped after each of their turns and go on in another sandbox, before the strict double. */

let double: ModelDouble;
const open: Sandbox[] = [];
beforeAll(async () => {
  double = await createModelDouble();
});
beforeEach(() => double.clearJournal());
afterAll(async () => {
  await Promise.all(open.map((sandbox) => sandbox.close()));
  await double.close();
});

async function sandboxOf(files: Record<string, string>) {
  const sandbox = await createLocalSandbox(files);
  open.push(sandbox);
  return sandbox;
}

class Stopped extends Error {}

/** A run that is cut off when `turns` turns have been kept; `kept` holds them and what they began with. */
function keeping(before: readonly KeptTurn[], turns = Number.POSITIVE_INFINITY) {
  const kept: { beginning: string; turns: KeptTurn[] } = { beginning: '', turns: [...before] };
  const keeper: TurnKeeper = {
    resume: async (beginning) => {
      kept.beginning = beginning;
      return before;
    },
    keep: async (turn) => {
      kept.turns.push(structuredClone(turn));
      if (kept.turns.length >= turns) throw new Stopped();
    },
  };
  return { keeper, kept };
}

const turnsAsked = () => double.journal().map(({ turn }) => turn);

/**
 * Runs an agent whole, then cut off after each turn and gone on; each time the outcome is the same, no turn is
 * asked for twice, and what it begins with has the same digest.
 */
async function sameWhenCut<T>(run: (keeper: TurnKeeper, attempt: string) => Promise<T>): Promise<T> {
  const first = keeping([]);
  const whole = await run(first.keeper, 'attempt-1');
  const turns = turnsAsked();
  expect(turns).toEqual(turns.map((_, index) => index));
  for (let cut = 1; cut <= turns.length; cut += 1) {
    double.clearJournal();
    const before = keeping([], cut);
    await expect(run(before.keeper, 'attempt-2')).rejects.toBeInstanceOf(Stopped);
    const after = keeping(before.kept.turns);
    expect({ cut, outcome: await run(after.keeper, 'attempt-3') }).toEqual({ cut, outcome: whole });
    expect({ cut, asked: turnsAsked() }).toEqual({ cut, asked: turns });
    expect(after.kept.beginning).toBe(first.kept.beginning);
    expect(double.journal().filter(({ refusal }) => refusal !== null)).toEqual([]);
  }
  return whole;
}

describe('an agent that goes on', () => {
  it('has the findings that were reported before', async () => {
    const [fault, other] = plantedFaults.map(({ plant }, index) => plant(`name${index}`));
    const { change, text } = sampleChange('src/a.js', ['+one', `+${fault}`, `+${other}`]);
    const report = await sameWhenCut(async (keeper, attemptId) => {
      const sandbox = await sandboxOf({ 'src/a.js': text });
      double.configure({});
      const agent = createAgent(coder, { gateway: gatewayTo(double), repositoryInstructions: '' });
      return agent.review({ ...sampleAssignment([change], sandbox), attemptId, keeper });
    });
    expect(report.findings.length).toBeGreaterThanOrEqual(2);
  });

  it('knows what it has written and asked for', async () => {
    const files = { 'src/a.js': 'old\n', 'src/b.js': 'other\n' };
    const request = { title: 'Docs', goal: 'Tell it.', writes: ['docs/a.md'], verification: 'It is told.' };
    double.configure({
      runChecks: true,
      fixes: [{ path: 'src/a.js', find: 'old', replace: 'new' }, { request }],
    });
    const report = await sameWhenCut(async (keeper, attemptId) => {
      // What the keeper of the product does by a patch is done here by hand.
      const before = await keeper.resume('');
      const wrote = before.some(({ messages }) => JSON.stringify(messages).includes('edit_file'));
      const sandbox = await sandboxOf(wrote ? { ...files, 'src/a.js': 'new\n' } : files);
      const row = { inputs: ['src/a.js'], writes: ['src/*.js'] };
      const check = { name: 'node --version', argv: ['node', '--version'], cwd: '' };
      const fixer = createFixer(coder, {
        gateway: gatewayTo(double),
        repositoryInstructions: '',
        protection: protectionBy([]),
      });
      return fixer.fix({ ...sampleFix(row, sandbox, { checks: [check] }), attemptId, keeper });
    });
    expect(report).toEqual({
      summary: 'Changed 1 file as the row asks.',
      turns: 4,
      requested: [{ ...request, inputs: [] }],
    });
  });

  it('has the triage that ended it', async () => {
    double.configure({});
    const { triage } = await sameWhenCut(async (keeper, attemptId) => {
      const sandbox = await sandboxOf({ 'src/a.js': 'one\n' });
      const { changes: _, ...assignment } = sampleAssignment([], sandbox);
      const row = {
        ...assignment.row,
        background: 'Title: The bug in a\n\nIt is a bug, and it is in the file a.',
      };
      const triager = createTriager(coder, { gateway: gatewayTo(double), repositoryInstructions: '' });
      return triager.triage({
        ...assignment,
        ...{ row, attemptId, keeper, others: [], labels: [{ name: 'bug', description: '' }] },
      });
    });
    expect(triage).toMatchObject({ labels: ['bug'] });
  });

  it('tells a beginning from another by agent, prompt and tools, not by the ids of the attempt', async () => {
    double.configure({});
    const beginning = async (over: object, config = coder) => {
      const { keeper, kept } = keeping([], 1);
      const sandbox = await sandboxOf({ 'a.js': 'one\n' });
      const fixer = createFixer(config, {
        gateway: gatewayTo(double),
        repositoryInstructions: '',
        protection: protectionBy([]),
      });
      await fixer
        .fix({ ...sampleFix({ writes: ['a.js'] }, sandbox), keeper, ...over })
        .catch((error: unknown) => expect(error).toBeInstanceOf(Stopped));
      return kept.beginning;
    };
    const one = await beginning({});
    expect(await beginning({ attemptId: 'another' })).toBe(one);
    const others = [
      await beginning({ feedback: 'the test a fails' }),
      await beginning({ contract: 'Names are short.' }),
      await beginning({}, { ...coder, name: 'other' }),
      await beginning({}, { ...coder, instructions: 'Be brief.' }),
    ];
    expect(new Set([one, ...others]).size).toBe(5);
  });
});

describe('identical calls in flight', () => {
  it('of two attempts are made once, and the second pays nothing', async () => {
    double.configure({});
    const inner = gatewayTo(double);
    let calls = 0;
    const gateway: ModelGateway = {
      complete: (...call) => {
        calls += 1;
        return inner.complete(...call);
      },
    };
    // Neither turn is answered before both attempts have asked for it.
    const [first, second] = [0, 1].map((turn) => double.hold((call) => call.turn === turn));
    const both = async () => {
      await expect.poll(() => calls).toBe(2);
      first?.();
      await expect.poll(() => calls).toBe(4);
      second?.();
    };
    const running = Promise.all(
      ['a1', 'a2'].map(async (attemptId) => {
        const sandbox = await sandboxOf({ 'a.js': 'one\n' });
        const fixer = createFixer(coder, {
          gateway,
          repositoryInstructions: '',
          protection: protectionBy([]),
        });
        const { keeper, kept } = keeping([]);
        const report = await fixer.fix({
          ...sampleFix({ writes: ['a.js'], inputs: ['a.js'] }, sandbox),
          ...{ attemptId, subtaskId: attemptId, keeper },
        });
        return { report, tokens: kept.turns.map(({ tokens }) => tokens > 0) };
      }),
    );
    const [reports] = await Promise.all([running, both()]);
    expect(reports[1]?.report).toEqual(reports[0]?.report);
    expect(turnsAsked()).toEqual([0, 1]);
    expect(reports.flatMap(({ tokens }) => tokens).filter(Boolean)).toHaveLength(2);
  });
});
