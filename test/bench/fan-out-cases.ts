import { behindBarriers, flatGraph, type GraphRow, layeredGraph, lowerBound } from './fan-out-graphs.ts';
import type { FanOutResult } from './fan-out-stages.ts';

/** What is fanned out, and how its results are put together. Times are milliseconds. */

export interface Case {
  readonly name: string;
  readonly sandbox: 'none' | 'docker';
  readonly subtasks: number;
  readonly parallel: number;
  readonly rows: readonly GraphRow[];
  /** The same work behind barriers, to be run; null: computed from the attempts. */
  readonly barrier: readonly GraphRow[] | null;
  /** Model time of a unit, over all calls of its row. */
  readonly unitMs: number;
  readonly idealMs: number;
  /** Whether it is run one after the other as well. */
  readonly runSerial: boolean;
}

export interface CaseResult {
  readonly name: string;
  readonly subtasks: number;
  readonly parallel: number;
  readonly sandbox: 'none' | 'docker';
  readonly wallMs: number;
  readonly idealMs: number;
  readonly ratio: number;
  readonly serialMs: number;
  readonly serial: 'measured' | 'summed';
  readonly barrierMs: number;
  readonly barrier: 'measured' | 'waves';
  readonly maxConcurrent: number;
  readonly totalMs: number;
  readonly stages: FanOutResult['stages'];
}

/** Three calls of 2 s. */
const flatMs = 6000;
/** 200 rows of 1 to 9 units. */
const layeredMs = 600;
const layeredParallel = 40;
const layers = layeredGraph(200, 12, 20_240);

const sandboxes = ['none', 'docker'] as const;

export const cases: readonly Case[] = [
  ...sandboxes.flatMap((sandbox) => [
    flat(10, 10, sandbox, true),
    flat(40, 20, sandbox, false),
    flat(200, 200, sandbox, false),
  ]),
  {
    name: 'layered',
    sandbox: 'none',
    subtasks: layers.flat().length,
    parallel: layeredParallel,
    rows: layers.flat(),
    barrier: behindBarriers(layers),
    unitMs: layeredMs,
    idealMs: Math.round(lowerBound(layers.flat(), layeredParallel) * layeredMs),
    runSerial: false,
  },
];

function flat(subtasks: number, parallel: number, sandbox: Case['sandbox'], runSerial: boolean): Case {
  const rows = flatGraph(subtasks);
  return {
    name: `${subtasks}x${parallel}`,
    sandbox,
    subtasks,
    parallel,
    rows,
    barrier: null,
    unitMs: flatMs,
    idealMs: Math.ceil(subtasks / parallel) * flatMs,
    runSerial,
  };
}

/** What the same work takes one after the other, and level by level; said how it was found. */
export function serialOf(
  wall: FanOutResult,
  serial: FanOutResult | null,
  barrier: FanOutResult | null,
  parallel: number,
): Pick<CaseResult, 'serial' | 'serialMs' | 'barrier' | 'barrierMs'> {
  const sum = wall.attemptMs.reduce((total, ms) => total + ms, 0);
  return {
    ...(serial === null
      ? { serialMs: sum, serial: 'summed' as const }
      : { serialMs: serial.wallMs, serial: 'measured' as const }),
    ...(barrier === null
      ? { barrierMs: inWaves(wall.attemptMs, parallel), barrier: 'waves' as const }
      : { barrierMs: barrier.wallMs, barrier: 'measured' as const }),
  };
}

function inWaves(times: readonly number[], parallel: number): number {
  let total = 0;
  for (let first = 0; first < times.length; first += parallel)
    total += Math.max(...times.slice(first, first + parallel));
  return total;
}
