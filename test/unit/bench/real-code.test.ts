import { describe, expect, it } from 'vitest';
import { chooseFiles } from '../../bench/real-code/analysers.ts';
import { type LoadAttempt, measureLoad } from '../../bench/real-code/figures.ts';

const at = (ms: number) => new Date(1_000_000 + ms);
const attempt = (
  worker: number,
  from: number,
  to: number,
  change: Partial<LoadAttempt> = {},
): LoadAttempt => ({
  agent: 'single',
  status: 'succeeded',
  worker: `host-${worker}-abcdef01`,
  containerId: `c${worker}${from}`,
  claimedAt: at(from),
  agentStartedAt: at(from + 10),
  finishedAt: at(to),
  ...change,
});
const sample = (ms: number, cpuMs: number, rssMiB: number) => ({ at: ms, cpuMs, rssMiB });

describe('the figures of a load', () => {
  it('tell what attempts took, what failed, and how the work was shared', () => {
    const attempts = [
      attempt(1, 0, 100),
      attempt(2, 0, 300, { agent: 'cross' }),
      attempt(1, 100, 300),
      attempt(2, 300, 700, { status: 'failed' }),
    ];
    const figures = measureLoad(attempts, [
      { pid: 1, samples: [sample(0, 100, 100), sample(500, 300, 120), sample(2000, 400, 110)] },
      { pid: 2, samples: [sample(0, 100, 100), sample(500, 200, 100), sample(2000, 300, 150)] },
    ]);
    expect(figures).toEqual({
      attempts: 4,
      errorRate: 0.25,
      p50Ms: 200,
      p95Ms: 400,
      maxMs: 400,
      byKind: {
        single: { attempts: 3, share: 0.75, p50Ms: 200, p95Ms: 400 },
        cross: { attempts: 1, share: 0.25, p50Ms: 300, p95Ms: 300 },
      },
      maxConcurrent: 2,
      workers: [
        { attempts: 2, share: 0.5, cpuMs: 300, rssMiB: { min: 100, max: 120, swing: 20 }, largestStep: 0.2 },
        { attempts: 2, share: 0.5, cpuMs: 200, rssMiB: { min: 100, max: 150, swing: 50 }, largestStep: 0 },
      ],
      balance: 1,
      signs: {
        unevenCpu: { maxOverMean: 1.2, seen: false },
        memorySpikes: { largestStep: 0.2, seen: false },
        sessionIds: { sessions: 4, duplicates: 0, seen: false },
      },
    });
  });

  it('see the three signs of pretended concurrency', () => {
    const attempts = [attempt(1, 0, 100), attempt(1, 0, 100), attempt(1, 200, 300)];
    const { signs, balance } = measureLoad(attempts, [
      { pid: 1, samples: [sample(0, 0, 100), sample(500, 900, 160)] },
      { pid: 2, samples: [sample(0, 0, 100), sample(500, 100, 100)] },
    ]);
    expect({ signs, balance }).toEqual({
      signs: {
        unevenCpu: { maxOverMean: 1.8, seen: true },
        memorySpikes: { largestStep: 0.6, seen: true },
        sessionIds: { sessions: 3, duplicates: 1, seen: true },
      },
      balance: 2,
    });
  });
});

describe('the files that are looked at', () => {
  const files = new Map(
    Array.from({ length: 100 }, (_, n) => [
      `lib/f${String(n).padStart(3, '0')}.py`,
      `# ${'x'.repeat(300)}\n`,
    ]),
  );

  it('are 70, 20 and 10 of a hundred, each once', () => {
    const chosen = chooseFiles({ name: 'a', language: 'python', files }, 10, 5);
    expect(Object.values(chosen).map(({ length }) => length)).toEqual([35, 10, 5]);
    expect(new Set(Object.values(chosen).flat()).size).toBe(50);
  });

  it('are not found where there are too few', () => {
    expect(() => chooseFiles({ name: 'a', language: 'go', files }, 10, 5)).toThrow('a has 0 files that fit');
  });
});
