import { describe, expect, it } from 'vitest';
import { createLiveLines } from '../../demo/live-lines.ts';
import type { RowState } from '../../demo/row-states.ts';

const shard = (row: number, change: Partial<RowState>): RowState => ({
  row,
  title: `packages/p${row} (2 files)`,
  state: 'waiting',
  sandbox: '',
  result: '',
  ms: null,
  ...change,
});

function record(isTTY: boolean) {
  const written: string[] = [];
  const lines = createLiveLines({ isTTY, columns: 80, rows: 24, write: (text) => written.push(text) });
  return { lines, written };
}

describe('live lines', () => {
  it('are plain where there is no terminal: one for each change, none for waiting', () => {
    const { lines, written } = record(false);
    lines.update([shard(0, {}), shard(1, { state: 'reviewing', sandbox: 'abc', ms: 1500 })]);
    lines.update([shard(0, {}), shard(1, { state: 'reviewing', sandbox: 'abc', ms: 1600 })]);
    lines.update([
      shard(0, { state: 'starting', ms: 0 }),
      shard(1, { state: 'done', result: '1 finding', ms: 2000 }),
    ]);
    expect(written.map((line) => line.trimEnd().replace(/ {2,}/g, ' | '))).toEqual([
      ' | 2 | packages/p1 (2 files) | reviewing | abc | 1.5 s',
      ' | 1 | packages/p0 (2 files) | starting | 0.0 s',
      ' | 2 | packages/p1 (2 files) | done | 2.0 s | 1 finding',
    ]);
  });

  it('are drawn over each other on a terminal, none longer than it is wide', () => {
    const { lines, written } = record(true);
    const states = [shard(0, { title: 'x'.repeat(200) }), shard(1, {})];
    lines.update(states);
    lines.update(states);
    expect(written[0]?.startsWith('\u001B[2K')).toBe(true);
    expect(written[1]?.startsWith('\u001B[2A\u001B[2K')).toBe(true);
    for (const line of (written[0] ?? '').split('\n'))
      expect(line.replace('\u001B[2K', '').length).toBeLessThan(80);
  });
});
