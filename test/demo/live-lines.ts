import type { RowState } from './row-states.ts';

/** A line per row: redrawn in place on a terminal, else one plain line for each change. */
export interface LiveLines {
  update(states: readonly RowState[]): void;
}

interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export function createLiveLines(output: Output): LiveLines {
  return output.isTTY === true ? redrawnLines(output) : plainLines(output);
}

function redrawnLines(output: Output): LiveLines {
  let drawn = 0;
  return {
    update(states) {
      // More lines than the screen has could not be reached again.
      const shown = states.slice(0, Math.max(1, (output.rows ?? 50) - 2));
      const lines = shown.map((state) => `\u001B[2K${lineOf(state).slice(0, (output.columns ?? 120) - 1)}\n`);
      output.write(`${drawn > 0 ? `\u001B[${drawn}A` : ''}${lines.join('')}`);
      drawn = lines.length;
    },
  };
}

/** `waiting` is not worth a line: all rows wait at first. */
function plainLines(output: Output): LiveLines {
  const last = new Map<number, RowState['state']>();
  return {
    update(states) {
      for (const state of states) {
        if (last.get(state.row) === state.state) continue;
        last.set(state.row, state.state);
        if (state.state !== 'waiting') output.write(`${lineOf(state)}\n`);
      }
    },
  };
}

export function lineOf({ row, title, state, sandbox, result, ms }: RowState): string {
  const time = ms === null ? '' : `${(ms / 1000).toFixed(1)} s`;
  const cells = [
    String(row + 1).padStart(3),
    title.padEnd(40),
    state.padEnd(10),
    sandbox.padEnd(12),
    time.padStart(7),
    result,
  ];
  return cells.join('  ').trimEnd();
}
