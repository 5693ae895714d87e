import { describe, expect, it } from 'vitest';
import {
  heldFigures,
  kernelBytes,
  median,
  ofThree,
  setupFigures,
  spread,
  toolFigures,
  type WorkspaceRound,
  warmFigures,
  workspaceFigures,
} from '../../bench/sandbox/figures.ts';

const mib = 1024 * 1024;

describe('medians', () => {
  it('are the middle one, or between the two in the middle', () => {
    expect([median([3]), median([9, 1, 5]), median([4, 100, 1, 2])]).toEqual([3, 5, 3]);
    expect(() => median([])).toThrow('no median of nothing');
  });

  it('do not change what they are taken of', () => {
    const times = [3, 1, 2];
    median(times);
    expect(times).toEqual([3, 1, 2]);
  });

  it('are shown to the third digit, however small', () => {
    expect([1234.5, 12.345, 0.012345, 0].map(ofThree)).toEqual([1230, 12.3, 0.0123, 0]);
  });
});

describe('the figures of sandboxes', () => {
  it('hold the warm pool beside docker run, and cold sandboxes by the second', () => {
    const rounds = {
      coldRun: [400, 500, 9000],
      warm: [50, 60, 1000],
      coldSandbox: [700, 600, 650],
      many: { count: 10, ms: 4000 },
    };
    expect(warmFigures(rounds)).toEqual({
      coldRunMs: 500,
      warmMs: 60,
      warmRatio: 0.12,
      coldSandboxMs: 650,
      coldPerSecond: 2.5,
    });
  });

  it('hold a tool call beside an exec', () => {
    expect(toolFigures({ exec: [80, 100, 120], toolCall: [4, 5, 6] })).toEqual({
      execMs: 100,
      toolCallMs: 5,
      toolRatio: 0.05,
    });
  });

  it('tell memory per container, and what of it is whose', () => {
    const held = {
      containers: 200,
      availableBefore: 20_000 * mib,
      availableWith: 8000 * mib,
      samples: [
        { charged: 40 * mib, own: 45 * mib, shim: 9 * mib },
        { charged: 41.26 * mib, own: 46 * mib, shim: 10 * mib },
        { charged: 60 * mib, own: 47 * mib, shim: 30 * mib },
      ],
      startMs: 80_000,
    };
    expect(heldFigures(held)).toEqual({
      containers: 200,
      mibEach: 60,
      chargedMib: 41.3,
      ownMib: 46,
      shimMib: 10,
      startedPerSecond: 2.5,
    });
  });

  it('hold attempts that share a setup beside attempts without one', () => {
    const measured = { mib: 293, runs: 1, firstMs: 5000, later: [300, 330, 360], without: [300, 310, 200] };
    expect(setupFigures(measured)).toEqual({
      ...{ mib: 293, attempts: 4, runs: 1, firstMs: 5000 },
      ...{ laterMs: 330, withoutMs: 300, ratio: 1.1 },
    });
  });
});

describe('what a workspace costs', () => {
  const round = (change: Partial<WorkspaceRound>): WorkspaceRound => ({
    ...{ worktreeMs: 4000, withMs: 420, withoutMs: 400 },
    ...{ createMs: 12, writeMs: 3, harvestMs: 5, removeMs: 20, bytes: 20_000 },
    ...change,
  });

  it('is what it adds to its own round, its first write and its patch; beside a work tree', () => {
    // The machine was slower in the second and the third: the difference within a round is what counts.
    const rounds = [
      round({}),
      round({ withMs: 840, withoutMs: 820 }),
      round({ withMs: 610, withoutMs: 600, bytes: 30_000 }),
    ];
    expect(workspaceFigures(rounds)).toEqual({
      worktreeMs: 4000,
      overlayMs: 28,
      workspaceRatio: 0.007,
      bytesPerWorkspace: 20_000,
      workspaceParts: { addedMs: 20, createMs: 12, writeMs: 3, harvestMs: 5, removeMs: 20 },
    });
  });

  it('is not made better by a round that happened to be fast without it', () => {
    const rounds = [round({}), round({ withMs: 400, withoutMs: 900 }), round({ withMs: 430 })];
    expect(workspaceFigures(rounds)).toMatchObject({ overlayMs: 28 });
  });
});

describe('what the kernel says', () => {
  it('is read by its name alone, in bytes', () => {
    const text = 'MemTotal:  100 kB\nSwapMemAvailable: 7 kB\nMemAvailable:     50 kB\n';
    expect(kernelBytes(text, 'MemAvailable')).toBe(50 * 1024);
    expect(() => kernelBytes(text, 'Pss')).toThrow('nothing of Pss');
  });
});

it('places are spread over all, the first among them', () => {
  expect([spread(10, 1), spread(10, 5), spread(3, 3)]).toEqual([[0], [0, 2, 4, 6, 8], [0, 1, 2]]);
});
